import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { api } from "../../api";
import { useWords } from "../../i18n";
import { Button, Field, FieldError, Input, ProblemText, TextArea, useToasts } from "../../ui";
import { isComposing } from "../../ui/keyboard";

/** Writes a new fact; its category is asked for once there is some text. */
export function AddFact({ categories, onAdded }: { categories: string[]; onAdded: () => void }) {
  const words = useWords().memory.adding;
  const toasts = useToasts();
  const errorId = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const [content, setContent] = useState("");
  const [category, setCategory] = useState("");
  const [isAdding, setAdding] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  const add = async (event?: FormEvent) => {
    event?.preventDefault();
    text.current?.focus();
    if (isAdding) return;
    if (!content.trim()) return setError(words.empty);
    setAdding(true);
    try {
      const fact = await api.addFact(content.trim(), category.trim());
      setContent((now) => (now === content ? "" : now)); // the next may have been begun
      setError(null);
      toasts.show({ text: words.added(fact.content) });
      onAdded();
    } catch (problem) {
      setError(<ProblemText problem={problem} />);
    } finally {
      setAdding(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    void add();
  };

  return (
    <form className="add-fact card" onSubmit={(event) => void add(event)}>
      <Field label={words.label} hideLabel>
        {(ids) => (
          <TextArea
            {...ids}
            aria-invalid={error !== null || undefined}
            aria-describedby={error === null ? undefined : errorId}
            ref={text}
            rows={1}
            placeholder={words.placeholder}
            value={content}
            onKeyDown={onKeyDown}
            onChange={(event) => {
              setContent(event.target.value);
              setError(null);
            }}
          />
        )}
      </Field>
      <Category value={category} onChange={setCategory} known={categories} />
      <Button tone="primary" type="submit" icon="plus" busy={isAdding}>
        {words.add}
      </Button>
      {error !== null && <FieldError id={errorId}>{error}</FieldError>}
    </form>
  );
}

interface CategoryProps {
  value: string;
  onChange: (category: string) => void;
  known: string[];
}

const MOST = 8;

/** A category: a new one, or one of those that are known. */
function Category({ value, onChange, known }: CategoryProps) {
  const words = useWords().memory.adding;
  const input = useRef<HTMLInputElement>(null);
  const begun = value.trim().toLocaleLowerCase();
  const fitting = known.filter((name) => name.toLocaleLowerCase().includes(begun)).slice(0, MOST);
  const offered = known.includes(value) ? [] : fitting;
  const choose = (name: string) => {
    onChange(name);
    input.current?.focus();
  };
  return (
    <div className="category">
      <Field label={words.category} hideLabel>
        {(ids) => (
          <Input
            {...ids}
            ref={input}
            placeholder={words.category}
            autoComplete="off"
            maxLength={100}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      {offered.length > 0 && (
        <div className="category-known" role="group" aria-label={words.suggestions}>
          {offered.map((name) => (
            <button key={name} type="button" onClick={() => choose(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
