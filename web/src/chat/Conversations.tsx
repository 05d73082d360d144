import { useId, useState } from "react";
import { useFormat, useWords } from "../i18n";
import { go, to } from "../route";
import { Button, Dialog, IconButton, ProblemNotice, Skeleton, useToasts } from "../ui";
import { grouped, type Past, type PastOne } from "./past";
import { erase } from "./threads";

interface ConversationsProps {
  past: Past;
  current: string | undefined;
  /** With a button that begins a new one. */
  withNew?: boolean;
}

/** Past conversations, to go back to or to erase. */
export function Conversations({ past, current, withNew }: ConversationsProps) {
  const words = useWords().chat;
  const [doomed, setDoomed] = useState<PastOne | null>(null);
  const groups = grouped(past.value ?? []);
  return (
    <nav className="chat-past" aria-label={words.past}>
      {withNew && (
        <Button icon="plus" onClick={() => go(to("chat"))}>
          {words.newConversation}
        </Button>
      )}
      {past.problem && !past.value && <ProblemNotice problem={past.problem} onRetry={past.reload} />}
      {!past.value && !past.problem && <Skeleton lines={6} />}
      {past.value?.length === 0 && <p className="chat-past-none">{words.noneYet}</p>}
      {groups.length > 0 && (
        <ul className="chat-past-list" aria-label={words.conversations}>
          {groups.map(([group, ones]) => (
            <li key={group}>
              <h2>{words.groups[group]}</h2>
              <ul>
                {ones.map((one) => (
                  <Row key={one.key} one={one} isCurrent={one.key === current} onDelete={() => setDoomed(one)} />
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      {doomed && <Doom one={doomed} past={past} isCurrent={doomed.key === current} onClose={() => setDoomed(null)} />}
    </nav>
  );
}

function Row({ one, isCurrent, onDelete }: { one: PastOne; isCurrent: boolean; onDelete: () => void }) {
  const words = useWords().chat;
  const format = useFormat();
  const id = useId();
  const title = one.title || words.untitled;
  const face = words.faces[one.key.split(":", 1)[0]!];
  return (
    <li className="chat-past-one">
      <a href={to("chat", one.key)} aria-current={isCurrent ? "page" : undefined} title={title} aria-describedby={id}>
        {title}
      </a>
      <span id={id} className="chat-past-time">
        {format.ago(one.updatedAt)}
        {face && ` · ${face}`}
      </span>
      <IconButton small icon="trash" label={words.deleteOne(title)} onClick={onDelete} />
    </li>
  );
}

interface DoomProps {
  one: PastOne;
  past: Past;
  isCurrent: boolean;
  onClose: () => void;
}

/** It cannot be taken back, so it is asked for. */
function Doom({ one, past, isCurrent, onClose }: DoomProps) {
  const words = useWords();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);

  const doIt = async () => {
    setBusy(true);
    try {
      await erase(one.key);
      past.set((past.value ?? []).filter(({ key }) => key !== one.key));
      past.reload();
      toasts.show({ text: words.chat.deleted });
      if (isCurrent) go(to("chat"), { replace: true });
      onClose();
    } catch (error) {
      setBusy(false);
      toasts.fail(error);
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>{words.common.cancel}</Button>
      <Button tone="danger" icon="trash" busy={isBusy} onClick={() => void doIt()}>
        {words.common.delete}
      </Button>
    </>
  );
  return (
    <Dialog title={words.chat.deleteTitle} onClose={onClose} actions={actions}>
      <p>{words.chat.deleteText(one.title || words.chat.untitled)}</p>
    </Dialog>
  );
}
