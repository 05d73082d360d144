import { useState } from "react";
import { useWords } from "../i18n";
import { to } from "../route";
import { Button, Icon, LinkButton, useToasts } from "../ui";
import type { Note } from "./notes";

/** What the memory took from a turn, with a way back. */
export function LearntNote({ note, onUndo }: { note: Note; onUndo: (change: number) => Promise<void> }) {
  const words = useWords();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const { change } = note;
  const says = { added: "learnt", changed: "changed", removed: "removed", ended: "ended", waiting: "waiting" } as const;

  const undo = async () => {
    setBusy(true);
    try {
      await onUndo(change!);
    } catch (error) {
      toasts.fail(error);
    }
    setBusy(false);
  };
  return (
    <div className={`chat-note${note.isUndone ? " chat-note-undone" : ""}`}>
      <Icon name={note.action === "waiting" ? "clock" : "leaf"} />
      <p>
        <strong>{words.chat[says[note.action]]}</strong> <span className="chat-note-fact">{note.fact.content}</span>
        {note.before && <span className="chat-note-before"> ({words.chat.before(note.before.content)})</span>}
      </p>
      {note.isUndone && <span className="chat-note-done">{words.chat.takenBack}</span>}
      {note.action === "waiting" && (
        <LinkButton small tone="quiet" href={to("memory", "learnt")}>
          {words.chat.decide}
        </LinkButton>
      )}
      {change !== null && !note.isUndone && (
        <Button small tone="quiet" icon="undo" busy={isBusy} onClick={() => void undo()}>
          {words.common.undo}
        </Button>
      )}
    </div>
  );
}
