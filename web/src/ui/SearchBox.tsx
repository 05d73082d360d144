import { useEffect, useRef, useState } from "react";
import { IconButton } from "./Button";
import { Input } from "./Field";

const PAUSE_MS = 80;

interface SearchBoxProps {
  query: string;
  onChange: (query: string) => void;
  /** What it is, what stands in it while it is empty, and what its button does. */
  words: { label: string; placeholder: string; clear: string };
}

/** What to search for; it is told once the typing pauses, and never half a composed character. */
export function SearchBox({ query, onChange, words }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query);
  const [before, setBefore] = useState(query);
  const [isComposing, setComposing] = useState(false);
  const told = useRef(onChange);
  told.current = onChange;

  if (query !== before) {
    // At once: a render in between would tell the old text as if somebody had typed it.
    setBefore(query);
    setText(query);
  }
  useEffect(() => {
    if (isComposing || text === query) return;
    const timer = setTimeout(() => told.current(text), text ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [text, query, isComposing]);

  return (
    <search className="search-box">
      <Input
        ref={input}
        icon="search"
        type="search"
        aria-label={words.label}
        placeholder={words.placeholder}
        value={text}
        autoComplete="off"
        onCompositionStart={() => setComposing(true)}
        onCompositionEnd={() => setComposing(false)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !event.nativeEvent.isComposing) setText("");
        }}
      />
      {text && (
        <IconButton
          small
          className="search-clear"
          icon="close"
          label={words.clear}
          onClick={() => {
            setText("");
            input.current?.focus();
          }}
        />
      )}
    </search>
  );
}
