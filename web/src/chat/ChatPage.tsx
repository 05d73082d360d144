import { useEffect, useRef, useState } from "react";
import { api, type Document } from "../api";
import { useWords } from "../i18n";
import { useModels } from "../models/useModels";
import { buildAddress, go, useRoute } from "../route";
import { useServerEvent } from "../serverEvents";
import { Badge, Icon, IconButton, Switch, useTitle, useToasts } from "../ui";
import "./chat.css";
import { Composer } from "./Composer";
import { ConversationMenu } from "./ConversationMenu";
import { Conversations } from "./Conversations";
import { openConversation, refreshStored } from "./conversationLoading";
import { Drawer } from "./Drawer";
import { FirstView } from "./FirstView";
import { showLearned, showNotes } from "./learnedNotes";
import { ModelLine } from "./ModelPicker";
import { getTitle, usePastConversations } from "./pastConversations";
import { say } from "./sending";
import { ThreadView } from "./ThreadView";
import { TitleInput } from "./TitleInput";
import { endPrivate, getFreshKey, getPrivateKey, lastPlace, stop, type Thread, useThread, writeDraft } from "./threads";

/** How far apart it is looked whether what is answered elsewhere has its answer. */
const BETWEEN_LOOKS_MS = 2000;

const PRIVATE = `${buildAddress("chat")}?private=1`;

/** Talking, with past conversations on one side and what is remembered on the other. */
export default function ChatPage() {
  const words = useWords().chat;
  const { parts, query } = useRoute();
  const named = parts[0];
  const message = Number(query.get("message")) || null;
  const isPrivate = !named && query.has("private");
  const key = named ?? (isPrivate ? getPrivateKey() : getFreshKey());
  const thread = useThread(key, isPrivate);
  const past = usePastConversations();
  const box = useRef<HTMLTextAreaElement>(null);
  const [isListOpen, setListOpen] = useState(false);
  const known = past.value?.find((one) => one.key === key)?.title ?? getTitle(thread);
  const title = isPrivate ? words.privateTitle : known || words.newConversation;
  const models = useModels();
  useTitle(title);
  useReturn(named);
  useLearnedToasts(key);

  useEffect(() => {
    setListOpen(false);
    if (named) void openConversation(named, message);
  }, [named, message]);
  const isElsewhere = thread.turns.at(-1)?.state === "elsewhere";
  useEffect(() => {
    if (!isElsewhere) return;
    const looking = setInterval(() => void refreshStored(key), BETWEEN_LOOKS_MS);
    return () => clearInterval(looking);
  }, [key, isElsewhere]);
  useEffect(() => (isPrivate ? endPrivate : undefined), [isPrivate]);

  const send = (text: string, documents: Document[]) => {
    if (!named && !isPrivate) go(buildAddress("chat", key), { replace: true });
    void say(key, isPrivate, text, documents);
  };
  const pick = (text: string) => {
    writeDraft(key, { text });
    box.current?.focus();
  };
  return (
    <div className={`chat${isPrivate ? " chat-private" : ""}`}>
      <div className="chat-side">
        <Conversations past={past} current={named} withNew />
      </div>
      <div className="chat-main">
        <header className="chat-head">
          <IconButton
            className="chat-past-button"
            icon="history"
            label={words.past}
            onClick={() => setListOpen(true)}
          />
          <Title
            key={key}
            thread={thread}
            title={title}
            canChange={!!named && thread.turns.length > 0}
            onChanged={past.reload}
          />
          <label className="chat-private-switch" title={words.privateMeans}>
            <Icon name="mask" />
            <span aria-hidden="true">{words.private}</span>
            <Switch
              label={words.private}
              checked={isPrivate}
              onChange={(isOn) => go(isOn ? PRIVATE : buildAddress("chat"))}
            />
          </label>
          <IconButton
            className="chat-new-button"
            icon="plus"
            label={words.newConversation}
            onClick={() => go(buildAddress("chat"))}
          />
        </header>
        <ThreadView
          key={`thread ${key}`}
          thread={thread}
          welcome={<FirstView models={models} onPick={pick} onReady={() => box.current?.focus()} />}
        />
        <Composer key={`composer ${key}`} thread={thread} box={box} onSend={send} onStop={() => stop(key)}>
          <ModelLine thread={thread} models={models} />
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
  const finishRenaming = (isChanged: boolean) => {
    setRenaming(false);
    if (isChanged) onChanged();
  };
  return (
    <>
      <h1 title={title} className={isRenaming ? "visually-hidden" : undefined}>
        {title}
      </h1>
      {isRenaming && <TitleInput conversation={thread.key} title={title} onDone={finishRenaming} />}
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

/** Whoever looked at another page comes back to the conversation that was open. */
function useReturn(named: string | undefined): void {
  const latest = useRef(named);
  latest.current = named;
  useEffect(() => {
    if (lastPlace.address && !latest.current) go(lastPlace.address, { replace: true });
    return () => {
      lastPlace.address = latest.current ? buildAddress("chat", latest.current) : null;
    };
  }, []);
}

/** Show what was learned in a conversation that is not open. */
function useLearnedToasts(shown: string): void {
  const words = useWords().news;
  const toasts = useToasts();
  useServerEvent("hello", () => void showNotes(shown));
  useServerEvent("learnt", (event) => {
    for (const { note } of showLearned(event, shown)) {
      const { change, action, fact } = note;
      const text = action === "waiting" ? words.pending(fact.content) : words.learned(fact.content);
      toasts.show({ text, undo: change === null ? undefined : () => api.undo(change) });
    }
  });
}
