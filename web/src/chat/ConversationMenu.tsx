import { useState } from "react";
import { useWords } from "../i18n";
import { go, to } from "../route";
import { Button, Dialog, Menu, type MenuItem, useToasts } from "../ui";
import { change, download, erase } from "./talking";

interface ConversationMenuProps {
  conversation: string;
  title: string;
  isSearched: boolean;
  isCurrent: boolean;
  onRename: () => void;
  /** It is another one now, or it is gone. */
  onChanged: () => void;
  small?: boolean;
}

/** What can be done with a conversation. */
export function ConversationMenu(props: ConversationMenuProps) {
  const { conversation, title, isSearched, onRename, onChanged, small } = props;
  const words = useWords().chat;
  const toasts = useToasts();
  const [isDoomed, setDoomed] = useState(false);

  const attempt = async (act: () => Promise<void>, said?: string) => {
    try {
      await act();
      if (said) toasts.show({ text: said });
      onChanged();
    } catch (error) {
      toasts.fail(error);
    }
  };
  const keepOut = () =>
    attempt(
      () => change(conversation, { searched: !isSearched }),
      isSearched ? words.isKeptOut : words.isSearchedAgain,
    );
  const items: MenuItem[] = [
    { icon: "edit", label: words.rename, onPick: onRename },
    { icon: "mask", label: words.keepOut, isChecked: !isSearched, onPick: () => void keepOut() },
    { icon: "save", label: words.exportMarkdown, onPick: () => void attempt(() => download(conversation, "markdown")) },
    { icon: "save", label: words.exportJson, onPick: () => void attempt(() => download(conversation, "json")) },
    { icon: "trash", label: words.delete, isDanger: true, onPick: () => setDoomed(true) },
  ];
  return (
    <>
      <Menu label={words.menuOf(title)} items={items} small={small} />
      {isDoomed && <Doom {...props} onClose={() => setDoomed(false)} />}
    </>
  );
}

/** It cannot be taken back, so it is asked for. */
function Doom({ conversation, title, isCurrent, onChanged, onClose }: ConversationMenuProps & { onClose: () => void }) {
  const words = useWords();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);

  const doIt = async () => {
    setBusy(true);
    try {
      await erase(conversation);
      onClose();
      onChanged();
      toasts.show({ text: words.chat.deleted });
      if (isCurrent) go(to("chat"), { replace: true });
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
      <p>{words.chat.deleteText(title)}</p>
    </Dialog>
  );
}
