import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, toProblem } from "../../api";
import { useWords } from "../../i18n";
import { Button, Dialog, Field, IconButton, ProblemText, TextArea, useToasts } from "../../ui";
import { isComposing } from "../../ui/keyboard";
import { Markdown } from "../../ui/Markdown";
import { joinTime, splitTime } from "./noteText";

interface NoteRowProps {
  date: string;
  entry: string;
  onChanged: () => void;
}

interface EditableRowProps extends NoteRowProps {
  isEditing: boolean;
  onEdit: () => void;
  onStop: () => void;
}

/** One note: when, what, and what can be done with it. */
export function NoteRow({ date, entry, isEditing, onEdit, onStop, onChanged }: EditableRowProps) {
  const words = useWords();
  const [isDeleting, setDeleting] = useState(false);
  const { time, text } = splitTime(entry);
  return (
    <li className="note">
      {time && <time>{time}</time>}
      <div className="note-body">
        {isEditing ? (
          <NoteEditor date={date} entry={entry} onStop={onStop} onChanged={onChanged} />
        ) : (
          <Markdown text={text} />
        )}
      </div>
      {!isEditing && (
        <div className="note-actions">
          <IconButton small icon="edit" label={words.common.edit} onClick={onEdit} />
          <IconButton small icon="trash" label={words.common.delete} onClick={() => setDeleting(true)} />
        </div>
      )}
      {isDeleting && (
        <DeleteNote date={date} entry={entry} onClose={() => setDeleting(false)} onChanged={onChanged} />
      )}
    </li>
  );
}

function NoteEditor({ date, entry, onStop, onChanged }: NoteRowProps & { onStop: () => void }) {
  const words = useWords();
  const own = words.memory.daily;
  const { time, text } = splitTime(entry);
  const area = useRef<HTMLTextAreaElement>(null);
  const [content, setContent] = useState(text);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  useEffect(() => area.current?.focus(), []);

  const save = async () => {
    if (content === text) return onStop();
    setSaving(true);
    try {
      await api.changeNote(date, entry, joinTime(time, content));
      onStop();
      onChanged();
    } catch (problem) {
      const isConflict = toProblem(problem).code === "conflict";
      setError(isConflict ? own.changedMeanwhile : <ProblemText problem={problem} />);
      setSaving(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const isEnter = event.key === "Enter" && !event.shiftKey;
    if (!isEnter && event.key !== "Escape") return;
    event.preventDefault();
    if (!isSaving) void (isEnter ? save() : onStop());
  };
  return (
    <div className="note-editor">
      <Field label={own.text} hideLabel error={error}>
        {(ids) => (
          <TextArea
            {...ids}
            ref={area}
            rows={1}
            value={content}
            onKeyDown={onKeyDown}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      <div className="note-editor-actions">
        <Button small tone="quiet" disabled={isSaving} onClick={onStop}>
          {words.common.cancel}
        </Button>
        <Button small tone="primary" busy={isSaving} onClick={() => void save()}>
          {words.common.save}
        </Button>
      </div>
    </div>
  );
}

function DeleteNote({ date, entry, onClose, onChanged }: NoteRowProps & { onClose: () => void }) {
  const words = useWords();
  const own = words.memory.daily;
  const toasts = useToasts();
  const remove = async () => {
    onClose();
    try {
      await api.changeNote(date, entry, null);
      toasts.show({ text: own.deleted });
    } catch (problem) {
      toasts.fail(problem);
    }
    onChanged();
  };
  const actions = (
    <>
      <Button onClick={onClose}>{words.common.cancel}</Button>
      <Button tone="danger" icon="trash" onClick={() => void remove()}>
        {words.common.delete}
      </Button>
    </>
  );
  return (
    <Dialog title={own.deleteTitle} onClose={onClose} actions={actions}>
      <p>{splitTime(entry).text}</p>
      <p>{own.deleteText}</p>
    </Dialog>
  );
}
