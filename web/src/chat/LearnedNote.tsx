import { useState } from "react";
import { useWords } from "../i18n";
import { buildAddress } from "../route";
import { Button, Icon, LinkButton, useToasts } from "../ui";
import type { Note } from "./notes";

/** What the memory took from a turn, with a way back. */
export function LearnedNote({ note, onUndo }: { note: Note; onUndo: (change: number) => Promise<void> }) {
  const words = useWords();
  const own = words.chat.notes;
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const { change } = note;

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
        <strong>{own[note.action]}</strong> <span className="chat-note-fact">{note.fact.content}</span>
        {note.before && <span className="chat-note-before">{own.before(note.before.content)}</span>}
      </p>
      {note.isUndone && <span className="chat-note-done">{own.undone}</span>}
      {note.action === "waiting" && (
        <LinkButton small tone="quiet" href={buildAddress("memory", "learned")}>
          {own.review}
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
