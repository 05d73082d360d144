import { useEffect, useRef, useState } from "react";
import { api, type Document } from "../api";
import { useServerEvent } from "../events";
import { useWords } from "../i18n";
import { useLoaded } from "../loading";
import { go, to, useRoute } from "../route";
import { Badge, Icon, IconButton, Switch, useTitle, useToasts } from "../ui";
import "./chat.css";
import { Composer } from "./Composer";
import { ConversationMenu } from "./ConversationMenu";
import { Conversations } from "./Conversations";
import { Drawer } from "./Drawer";
import { learn, showNotes } from "./learning";
import { titleOf, usePast } from "./past";
import { open, settle } from "./reading";
import { say } from "./talking";
import { ThreadView } from "./ThreadView";
import { TitleInput } from "./TitleInput";
import { endPrivate, freshKey, left, privateKey, stop, type Thread, useThread, write } from "./threads";

/** How far apart it is looked whether what is answered elsewhere has its answer. */
const BETWEEN_LOOKS_MS = 2000;

const PRIVATE = `${to("chat")}?private=1`;

/** Talking, with past conversations on one side and what is remembered on the other. */
export default function ChatPage() {
  const words = useWords().chat;
  const { parts, query } = useRoute();
  const named = parts[0];
  const message = Number(query.get("message")) || null;
  const isPrivate = !named && query.has("private");
  const key = named ?? (isPrivate ? privateKey() : freshKey());
  const thread = useThread(key, isPrivate);
  const past = usePast();
  const box = useRef<HTMLTextAreaElement>(null);
  const [isListOpen, setListOpen] = useState(false);
  const known = past.value?.find((one) => one.key === key)?.title ?? titleOf(thread);
  const title = isPrivate ? words.privateTitle : known || words.newConversation;
  const isRecall = useIsRecall();
  useTitle(title);
  useReturn(named);
  useLearnt(key);

  useEffect(() => {
    setListOpen(false);
    if (named) void open(named, message);
  }, [named, message]);
  const isElsewhere = thread.turns.at(-1)?.state === "elsewhere";
  useEffect(() => {
    if (!isElsewhere) return;
    const looking = setInterval(() => void settle(key), BETWEEN_LOOKS_MS);
    return () => clearInterval(looking);
  }, [key, isElsewhere]);
  useEffect(() => (isPrivate ? endPrivate : undefined), [isPrivate]);

  const send = (text: string, documents: Document[]) => {
    if (!named && !isPrivate) go(to("chat", key), { replace: true });
    void say(key, isPrivate, text, documents);
  };
  const pick = (text: string) => {
    write(key, { text });
    box.current?.focus();
  };
  return (
    <div className={`chat${isPrivate ? " chat-private" : ""}`}>
      <div className="chat-side">
        <Conversations past={past} current={named} withNew />
      </div>
      <div className="chat-main">
        <header className="chat-head">
          <IconButton className="chat-past-button" icon="history" label={words.past} onClick={() => setListOpen(true)} />
          <Title key={key} thread={thread} title={title} canChange={!!named && thread.turns.length > 0} onChanged={past.reload} />
          <label className="chat-private-switch" title={words.privateMeans}>
            <Icon name="mask" />
            <span aria-hidden="true">{words.private}</span>
            <Switch label={words.private} checked={isPrivate} onChange={(isOn) => go(isOn ? PRIVATE : to("chat"))} />
          </label>
          <IconButton
            className="chat-new-button"
            icon="plus"
            label={words.newConversation}
            onClick={() => go(to("chat"))}
          />
        </header>
        <ThreadView key={`thread ${key}`} thread={thread} onPick={pick} />
        <Composer key={`composer ${key}`} thread={thread} box={box} onSend={send} onStop={() => stop(key)}>
          {isRecall ? <NoModel /> : <p className="chat-hint chat-keys">{words.keys}</p>}
        </Composer>
      </div>
      {isListOpen && (
        <Drawer title={words.past} onClose={() => setListOpen(false)}>
          <Conversations past={past} current={named} />
        </Drawer>
      )}
    </div>
  );
}

interface TitleProps {
  thread: Thread;
  title: string;
  canChange: boolean;
  onChanged: () => void;
}

/** What the conversation is called, and what can be done with it. */
function Title({ thread, title, canChange, onChanged }: TitleProps) {
  const words = useWords().chat;
  const [isRenaming, setRenaming] = useState(false);
  const renamed = (isChanged: boolean) => {
    setRenaming(false);
    if (isChanged) onChanged();
  };
  return (
    <>
      <h1 title={title} className={isRenaming ? "visually-hidden" : undefined}>
        {title}
      </h1>
      {isRenaming && <TitleInput conversation={thread.key} title={title} onDone={renamed} />}
      {!thread.isSearched && <Badge>{words.notSearched}</Badge>}
      {canChange && (
        <ConversationMenu
          conversation={thread.key}
          title={title}
          isSearched={thread.isSearched}
          isCurrent
          onRename={() => setRenaming(true)}
          onChanged={onChanged}
        />
      )}
    </>
  );
}

/** Whether there is no model, so that answers only quote. */
function useIsRecall(): boolean {
  const model = useLoaded((signal) => api.model(signal), []);
  useServerEvent("settings", model.reload);
  useServerEvent("hello", model.reload);
  return model.value === "recall";
}

function NoModel() {
  const words = useWords().chat;
  return (
    <p className="chat-hint">
      {words.noModel} <a href={to("settings")}>{words.chooseModel}</a>
    </p>
  );
}

/** Whoever looked at another page comes back to the conversation that was open. */
function useReturn(named: string | undefined): void {
  const latest = useRef(named);
  latest.current = named;
  useEffect(() => {
    if (left.address && !latest.current) go(left.address, { replace: true });
    return () => {
      left.address = latest.current ? to("chat", latest.current) : null;
    };
  }, []);
}

/** What was learnt in a conversation that is not shown is told beside. */
function useLearnt(shown: string): void {
  const words = useWords().chat;
  const toasts = useToasts();
  useServerEvent("hello", () => void showNotes(shown));
  useServerEvent("learnt", (event) => {
    for (const { note } of learn(event, shown)) {
      const { change, action, fact } = note;
      const text = action === "waiting" ? words.waitingElsewhere(fact.content) : words.learntElsewhere(fact.content);
      toasts.show({ text, undo: change === null ? undefined : () => api.undo(change) });
    }
  });
}
