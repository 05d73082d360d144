import { type KeyboardEvent, useEffect, useRef } from "react";
import { useWords } from "../i18n";
import { useToasts } from "../ui";
import { isComposing } from "../ui/keyboard";
import { changeConversation } from "./sending";

interface TitleInputProps {
  conversation: string;
  title: string;
  /** It was renamed, or is to stay as it is. */
  onDone: (isChanged: boolean) => void;
}

/** A conversation's title, being changed where it stands. */
export function TitleInput({ conversation, title, onDone }: TitleInputProps) {
  const words = useWords().chat;
  const toasts = useToasts();
  const input = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);

  useEffect(() => input.current?.select(), []);

  const end = async (text: string | null) => {
    if (isOver.current) return;
    isOver.current = true;
    if (text === null || text === title) return onDone(false);
    try {
      await changeConversation(conversation, { title: text });
      onDone(true);
    } catch (error) {
      toasts.fail(error);
      onDone(false);
    }
  };
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(event)) return;
    if (event.key === "Enter") void end(event.currentTarget.value.trim());
    if (event.key !== "Escape") return;
    event.preventDefault(); // it would close the drawer, too
    event.stopPropagation();
    void end(null);
  };
  return (
    <input
      ref={input}
      className="input chat-title-input"
      aria-label={words.newTitle}
      placeholder={words.titleByItself}
      maxLength={200}
      defaultValue={title}
      autoFocus
      onKeyDown={press}
      onBlur={(event) => void end(event.currentTarget.value.trim())}
    />
  );
}
