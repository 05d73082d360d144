import {
  type ChangeEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Document } from "../api";
import { useFormat, useWords } from "../i18n";
import { FieldError, Icon, IconButton } from "../ui";
import { isComposing } from "../ui/keyboard";
import { countBytes, Refusal, readFiles } from "./documents";
import { type Thread, useDraft, writeDraft } from "./threads";
import { isUnderWay } from "./turns";

const TALLEST_PX = 260;

interface ComposerProps {
  thread: Thread;
  box: RefObject<HTMLTextAreaElement | null>;
  onSend: (text: string, documents: Document[]) => void;
  onStop: () => void;
  /** What stands below it. */
  children: ReactNode;
}

/** Where one writes. */
export function Composer({ thread, box, onSend, onStop, children }: ComposerProps) {
  const words = useWords().chat;
  const { key } = thread;
  const { text, documents } = useDraft(key);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const isGoing = isUnderWay(thread.turns.at(-1));
  const isThere = thread.state !== "loading" && thread.state !== "failed";
  const canSend = isThere && !isGoing && text.trim() !== "";

  useHeight(box, text);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [box]);

  const send = () => {
    if (!canSend) return;
    writeDraft(key, { text: "", documents: [] });
    setRefusal(null);
    onSend(text.trim(), documents);
    box.current?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && !text) {
      event.preventDefault();
      writeDraft(key, { text: thread.turns.at(-1)?.question ?? "" });
    } else if (event.key === "Escape" && isGoing) onStop();
  };
  const attach = async (files: Iterable<File>) => {
    try {
      writeDraft(key, { documents: await readFiles(files, documents) });
      setRefusal(null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setRefusal(error);
    }
    box.current?.focus();
  };
  const drop = (event: DragEvent) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    void attach(event.dataTransfer.files);
  };
  return (
    <div className="chat-foot">
      <div className="chat-foot-column">
        <div className="chat-composer" onDrop={drop} onDragOver={(event) => event.preventDefault()}>
          {refusal && <FieldError>{words[refusal.why](refusal.file)}</FieldError>}
          <Attachments documents={documents} onRemove={(rest) => writeDraft(key, { documents: rest })} />
          <textarea
            ref={box}
            rows={1}
            aria-label={words.message}
            placeholder={thread.isPrivate ? words.privatePlaceholder : words.placeholder}
            enterKeyHint="send"
            value={text}
            onChange={(event) => writeDraft(key, { text: event.target.value })}
            onKeyDown={press}
          />
          <div className="chat-composer-row">
            <AttachButton onFiles={(files) => void attach(files)} />
            {isGoing ? (
              <IconButton className="chat-send" tone="primary" icon="stop" label={words.stop} onClick={onStop} />
            ) : (
              <IconButton
                className="chat-send"
                tone="primary"
                icon="arrowUp"
                label={words.send}
                disabled={!canSend}
                onClick={send}
              />
            )}
          </div>
        </div>
        {children}
      </div>
    </div>
  );
}

/** Let the box be as tall as what is written in it. */
function useHeight(box: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(current.scrollHeight, TALLEST_PX)}px`;
  }, [box, text]);
}

function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const words = useWords().chat;
  const input = useRef<HTMLInputElement>(null);
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(target.files ?? [])]);
    target.value = "";
  };
  return (
    <>
      <IconButton icon="clip" label={words.attach} onClick={() => input.current?.click()} />
      <input ref={input} type="file" hidden multiple accept=".txt,.md,text/plain,text/markdown" onChange={choose} />
    </>
  );
}

interface AttachmentsProps {
  documents: Document[];
  onRemove: (rest: Document[]) => void;
}

function Attachments({ documents, onRemove }: AttachmentsProps) {
  const words = useWords().chat;
  const format = useFormat();
  if (!documents.length) return null;
  return (
    <div className="chat-attached">
      <ul>
        {documents.map((document) => (
          <li key={document.name}>
            <Icon name="file" />
            <span>{words.attached(document.name, format.bytes(countBytes(document)))}</span>
            <IconButton
              small
              icon="close"
              label={words.detach(document.name)}
              onClick={() => onRemove(documents.filter((one) => one !== document))}
            />
          </li>
        ))}
      </ul>
      <p>{words.attachHint}</p>
    </div>
  );
}
