import { memo, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useFormat, useWords } from "../i18n";
import { buildAddress, go } from "../route";
import { Button, Icon, ProblemNotice, SearchBox, Skeleton } from "../ui";
import { ConversationMenu } from "./ConversationMenu";
import { groupByAge, type PastConversation, type PastConversations } from "./pastConversations";
import { TitleInput } from "./TitleInput";

interface ConversationsProps {
  past: PastConversations;
  current: string | undefined;
  /** With a button that begins a new one. */
  withNew?: boolean;
}

/** Past conversations, to find, to go back to, to rename, to export or to erase. */
export const Conversations = memo(function Conversations({ past, current, withNew }: ConversationsProps) {
  const words = useWords().chat;
  const { value, problem, query, more } = past;
  const groups = groupByAge(value ?? []);
  const isSearch = query.trim() !== "";
  return (
    <nav className="chat-past" aria-label={words.past}>
      {withNew && (
        <Button icon="plus" onClick={() => go(buildAddress("chat"))}>
          {words.newConversation}
        </Button>
      )}
      {(isSearch || !!value?.length) && <SearchBox query={query} onChange={past.search} words={words.find} />}
      {problem && !value && <ProblemNotice problem={problem} onRetry={past.reload} />}
      {!value && !problem && <Skeleton lines={6} />}
      {value?.length === 0 && <p className="chat-past-none">{isSearch ? words.find.nothing(query) : words.noneYet}</p>}
      {groups.length > 0 && (
        <ul className="chat-past-list" aria-label={words.conversations}>
          {groups.map(([group, ones]) => (
            <li key={group}>
              <h2>{words.groups[group]}</h2>
              <ul>
                {ones.map((one) => (
                  <ConversationRow key={one.key} one={one} isCurrent={one.key === current} onChanged={past.reload} />
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      {more && <MoreButton onMore={more} />}
      {isSearch && (
        <a className="chat-past-everywhere" href={`${buildAddress("memory")}?${new URLSearchParams({ q: query })}`}>
          <Icon name="search" /> {words.find.everywhere}
        </a>
      )}
    </nav>
  );
});

interface ConversationRowProps {
  one: PastConversation;
  isCurrent: boolean;
  onChanged: () => void;
}

const ConversationRow = memo(function ConversationRow({ one, isCurrent, onChanged }: ConversationRowProps) {
  const words = useWords().chat;
  const format = useFormat();
  const id = useId();
  const link = useRef<HTMLAnchorElement>(null);
  const [isRenaming, setRenaming] = useState(false);
  const title = one.title || words.untitled;
  const face = words.faces[one.key.split(":", 1)[0]!];
  const finishRenaming = (isChanged: boolean) => {
    setRenaming(false);
    if (isChanged) onChanged();
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) link.current?.focus();
    });
  };
  if (isRenaming) {
    return (
      <li className="chat-past-one">
        <TitleInput conversation={one.key} title={one.title} onDone={finishRenaming} />
      </li>
    );
  }
  const address = buildAddress("chat", one.key);
  const current = isCurrent ? "page" : undefined;
  return (
    <li className="chat-past-one">
      <a ref={link} href={address} aria-current={current} title={title} aria-describedby={id}>
        {title}
      </a>
      <span id={id} className="chat-past-time">
        {format.ago(one.updatedAt)}
        {face && ` · ${face}`}
        {!one.searched && ` · ${words.notSearched}`}
      </span>
      <ConversationMenu
        small
        conversation={one.key}
        title={title}
        isSearched={one.searched}
        isCurrent={isCurrent}
        onRename={() => setRenaming(true)}
        onChanged={onChanged}
      />
    </li>
  );
});

/** More of them, as soon as one comes near to the end, or at a press. */
function MoreButton({ onMore }: { onMore: () => void }) {
  const words = useWords().chat;
  const button = useRef<HTMLButtonElement>(null);
  useNear(button, onMore);
  return (
    <button ref={button} type="button" className="chat-more" onClick={onMore}>
      {words.moreConversations}
    </button>
  );
}

function useNear(place: RefObject<Element | null>, onNear: () => void): void {
  useEffect(() => {
    const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && onNear());
    if (place.current) near.observe(place.current);
    return () => near.disconnect();
  }, [place, onNear]);
}
