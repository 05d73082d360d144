import { useId, useState } from "react";
import { api } from "../api";
import { useFormat, useWords } from "../i18n";
import { buildAddress } from "../route";
import { Button, Icon, ProblemText, TextArea, useToasts } from "../ui";
import { useLoaded } from "../useLoaded";
import { MessageLink } from "./MessageLink";
import type { UsedFact } from "./turns";

/** A fact that was in a prompt; opened, it shows the words it rests on, and can be corrected or forgotten. */
export function UsedFactView({ fact }: { fact: UsedFact }) {
  const words = useWords().chat;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [content, setContent] = useState(fact.content);
  if (content === null) return <p className="chat-used chat-none">{words.goneFact}</p>;
  return (
    <>
      <button
        type="button"
        className="chat-used"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="leaf" />
        <span className="chat-used-text">{content}</span>
      </button>
      <div id={id} hidden={!isOpen}>
        {isOpen && <FactStory id={fact.id} content={content} onContent={setContent} />}
      </div>
    </>
  );
}

interface FactStoryProps {
  id: string;
  content: string;
  onContent: (content: string | null) => void;
}

function FactStory({ id, content, onContent }: FactStoryProps) {
  const words = useWords();
  const own = words.chat.story;
  const toasts = useToasts();
  const loaded = useLoaded((signal) => api.getFactStory(id, signal), [id]);
  const [edited, setEdited] = useState<string | null>(null);
  const said = loaded.value?.said ?? [];

  const forget = async () => {
    try {
      const { change } = await api.deleteFact(id);
      onContent(null);
      toasts.show({ text: own.forgotten(content), undo: () => api.undo(change).then(() => onContent(content)) });
    } catch (problem) {
      toasts.fail(problem);
    }
  };
  const save = async () => {
    try {
      onContent((await api.changeFact(id, edited!, content)).content);
      setEdited(null);
    } catch (problem) {
      toasts.fail(problem);
    }
  };
  return (
    <div className="chat-story">
      {loaded.problem && <ProblemText problem={loaded.problem} />}
      {loaded.value && !said.length && <p className="chat-none">{own.byHand}</p>}
      {said.map((one) => (
        <QuotedWords key={one.time} {...one} />
      ))}
      {edited === null ? (
        <p className="chat-story-actions">
          <Button small tone="quiet" icon="edit" onClick={() => setEdited(content)}>
            {own.correct}
          </Button>
          <Button small tone="quiet" icon="trash" onClick={() => void forget()}>
            {own.forget}
          </Button>
        </p>
      ) : (
        <>
          <TextArea
            aria-label={own.correct}
            rows={2}
            autoFocus
            value={edited}
            onChange={(event) => setEdited(event.target.value)}
          />
          <p className="chat-story-actions">
            <Button small tone="quiet" onClick={() => setEdited(null)}>
              {words.common.cancel}
            </Button>
            <Button small tone="primary" disabled={!edited.trim()} onClick={() => void save()}>
              {words.common.save}
            </Button>
          </p>
        </>
      )}
    </div>
  );
}

interface QuotedWordsProps {
  quote: string | null;
  conversation: string | null;
  message: number | null;
  time: string;
  messageTime: string | null;
}

/** The user's own words, and the way to them. */
function QuotedWords({ quote, conversation, message, time, messageTime }: QuotedWordsProps) {
  const own = useWords().chat.story;
  const when = useFormat().ago(messageTime ?? time);
  return (
    <>
      {quote && <blockquote>{quote}</blockquote>}
      <p className="chat-used-meta">
        {when}
        {conversation && message !== null && (
          <MessageLink conversation={conversation} message={message}>
            {own.place}
          </MessageLink>
        )}
        {conversation && message === null && <a href={buildAddress("chat", conversation)}>{own.conversation}</a>}
      </p>
    </>
  );
}
