import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { isForeign } from "../hits";
import { useWords } from "../i18n";
import { Button, Icon, IconButton } from "../ui";
import { isComposing } from "../ui/keyboard";
import { ForgottenNote, Origin, ReplacedNote } from "./Origin";
import { sayInstead } from "./sending";
import type { Turn } from "./turns";
import { VersionSwitcher } from "./VersionSwitcher";

interface QuestionProps {
  turn: Turn;
  conversation: string;
  isPrivate: boolean;
  isBusy: boolean;
}

/** What was said, by whom, and in which version. */
export function Question({ turn, conversation, isPrivate, isBusy }: QuestionProps) {
  const words = useWords().chat;
  const [isEditing, setEditing] = useState(false);
  const { asked } = turn;
  const isOthers = asked !== null && isForeign(asked);
  const canEdit = !isPrivate && !isBusy && asked !== null && asked.id !== null && !isOthers && !asked.hidden;
  const stop = () => {
    setEditing(false);
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-message~="${asked?.id}"] .chat-edit`)?.focus(),
    );
  };
  if (isEditing && canEdit) {
    const send = (text: string) => {
      setEditing(false);
      sayInstead(conversation, turn.id, text);
    };
    return <Editor text={turn.question} onSend={send} onCancel={stop} />;
  }
  const names = turn.documents.map(({ name }) => name);
  return (
    <div
      className={`chat-asked${isOthers ? " chat-asked-others" : ""}`}
      data-message={asked?.id ?? undefined}
      tabIndex={-1}
    >
      <h2 className="visually-hidden">{isOthers ? words.theySaid : words.you}</h2>
      {asked && <Origin of={asked} />}
      <div className="chat-asked-row">
        {canEdit && (
          <IconButton small className="chat-edit" icon="edit" label={words.edit} onClick={() => setEditing(true)} />
        )}
        <div className={`chat-question${asked?.hidden ? " chat-forgotten" : ""}`}>
          <p>{turn.question}</p>
          {names.length > 0 && (
            <p className="chat-with">
              <Icon name="file" /> {words.withDocuments(names)}
            </p>
          )}
        </div>
      </div>
      {asked?.hidden && <ForgottenNote />}
      {asked?.newer && !asked.hidden && <ReplacedNote by={asked.newer} />}
      {asked && <VersionSwitcher conversation={conversation} of={asked} isBusy={isBusy} />}
    </div>
  );
}

interface EditorProps {
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

function Editor({ text, onSend, onCancel }: EditorProps) {
  const words = useWords();
  const box = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState(text);

  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, [text]);

  const send = () => {
    if (draft.trim()) onSend(draft.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") onCancel();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="chat-editor">
      <textarea
        ref={box}
        className="input"
        aria-label={words.chat.editText}
        rows={Math.min(draft.split("\n").length + 1, 12)}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={press}
      />
      <p>{words.chat.editMeans}</p>
      <Button small onClick={onCancel}>
        {words.common.cancel}
      </Button>
      <Button small tone="primary" disabled={!draft.trim()} onClick={send}>
        {words.chat.send}
      </Button>
    </div>
  );
}
