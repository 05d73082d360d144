import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { api, type Fact, toProblem } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { Badge, Button, Field, Icon, IconButton, ProblemText, TextArea } from "../../ui";
import { isComposing } from "../../ui/keyboard";
import { describeOrigin, getOriginIcon } from "../factOrigins";

interface FactRowProps {
  fact: Fact;
  /** Its place among those below its heading, and how many these are: not all of them are drawn. */
  place: number;
  size: number;
  /** The Tab key leads here. */
  isCurrent: boolean;
  isEditing: boolean;
  isSelected: boolean;
  onCurrent: () => void;
  onEdit: () => void;
  onStop: () => void;
  onSaved: () => void;
  onDelete: () => void;
  onToggle: () => void;
  onPin: () => void;
}

/** One fact: what it says, who brought it and when, and what can be done with it. */
export function FactRow(props: FactRowProps) {
  const { fact, isEditing, isSelected, onStop, onSaved } = props;
  const reach = props.isCurrent ? 0 : -1;
  return (
    <li
      className={`fact${isSelected ? " is-selected" : ""}`}
      data-id={fact.id}
      aria-posinset={props.place}
      aria-setsize={props.size}
      tabIndex={isEditing ? undefined : reach}
      onFocus={props.onCurrent}
    >
      {isEditing ? <FactEditor fact={fact} onStop={onStop} onSaved={onSaved} /> : <ShownFact {...props} reach={reach} />}
    </li>
  );
}

function ShownFact({ fact, reach, isSelected, onEdit, onDelete, onToggle, onPin }: FactRowProps & { reach: number }) {
  const words = useWords();
  const own = words.memory.facts;
  return (
    <>
      <input
        type="checkbox"
        className="fact-check"
        aria-label={own.select(fact.content)}
        tabIndex={reach}
        checked={isSelected}
        onChange={onToggle}
      />
      <p className="fact-text">
        {fact.content}
        {fact.pinned && (
          <Badge tone="accent">
            <Icon name="pin" />
            {own.pinned}
          </Badge>
        )}
      </p>
      <FactOrigin fact={fact} />
      <div className="fact-actions">
        <IconButton
          small
          icon="pin"
          label={fact.pinned ? own.unpin : own.pin}
          aria-pressed={fact.pinned}
          tabIndex={reach}
          onClick={onPin}
        />
        <IconButton small icon="edit" label={words.common.edit} tabIndex={reach} onClick={onEdit} />
        <IconButton small icon="trash" label={words.common.delete} tabIndex={reach} onClick={onDelete} />
      </div>
    </>
  );
}

function FactOrigin({ fact }: { fact: Fact }) {
  const words = useWords();
  const format = useFormat();
  return (
    <p className="fact-meta">
      <Icon name={getOriginIcon(fact.origin)} />
      {describeOrigin(fact.origin, words)}
      {fact.origin && (
        <>
          <span aria-hidden="true"> · </span>
          <time dateTime={fact.updatedAt} title={format.dateTime(fact.updatedAt)}>
            {format.ago(fact.updatedAt)}
          </time>
        </>
      )}
    </p>
  );
}

/** Edits in place: Enter saves, Escape leaves it as it was. */
function FactEditor({ fact, onStop, onSaved }: { fact: Fact; onStop: () => void; onSaved: () => void }) {
  const words = useWords();
  const hintId = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const [content, setContent] = useState(fact.content);
  const [expected, setExpected] = useState(fact.content);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  useEffect(() => {
    text.current?.focus();
    text.current?.setSelectionRange(fact.content.length, fact.content.length);
  }, []);

  const save = async () => {
    if (content === expected) return onStop();
    setSaving(true);
    try {
      await api.changeFact(fact.id, content, expected);
      onSaved();
      onStop();
    } catch (problem) {
      await explain(problem);
      setSaving(false);
    }
  };
  /** Say what went wrong; who was told what the fact says by now may insist. */
  const explain = async (problem: unknown) => {
    setError(<ProblemText problem={problem} />);
    if (toProblem(problem).code !== "conflict") return;
    const now = await api.getFact(fact.id).catch(() => null);
    if (!now) return;
    setExpected(now.content);
    setError(words.memory.facts.changedMeanwhile(now.content));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const isEnter = event.key === "Enter" && !event.shiftKey;
    if (!isEnter && event.key !== "Escape") return;
    if (!isSaving) void (isEnter ? save() : onStop());
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="fact-editor">
      <Field label={words.memory.facts.text} hideLabel error={error}>
        {(ids) => (
          <TextArea
            {...ids}
            aria-describedby={`${ids["aria-describedby"] ?? ""} ${hintId}`}
            ref={text}
            rows={1}
            value={content}
            onKeyDown={onKeyDown}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      <div className="fact-editor-actions">
        <p id={hintId} className="field-hint">
          {words.memory.facts.editing}
        </p>
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
