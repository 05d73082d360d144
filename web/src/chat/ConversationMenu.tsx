import { useState } from "react";
import { useWords } from "../i18n";
import { buildAddress, go } from "../route";
import { Button, Dialog, Menu, type MenuItem, useToasts } from "../ui";
import { changeConversation, downloadConversation, eraseConversation } from "./sending";

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
  const [isConfirming, setConfirming] = useState(false);

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
      () => changeConversation(conversation, { searched: !isSearched }),
      isSearched ? words.isKeptOut : words.isSearchedAgain,
    );
  const items: MenuItem[] = [
    { icon: "edit", label: words.rename, onPick: onRename },
    { icon: "mask", label: words.keepOut, isChecked: !isSearched, onPick: () => void keepOut() },
    {
      icon: "save",
      label: words.exportMarkdown,
      onPick: () => void attempt(() => downloadConversation(conversation, "markdown")),
    },
    {
      icon: "save",
      label: words.exportJson,
      onPick: () => void attempt(() => downloadConversation(conversation, "json")),
    },
    { icon: "trash", label: words.delete, isDanger: true, onPick: () => setConfirming(true) },
  ];
  return (
    <>
      <Menu label={words.menuOf(title)} items={items} small={small} />
      {isConfirming && <ConfirmDelete {...props} onClose={() => setConfirming(false)} />}
    </>
  );
}

/** It cannot be taken back, so it is asked for. */
function ConfirmDelete({
  conversation,
  title,
  isCurrent,
  onChanged,
  onClose,
}: ConversationMenuProps & { onClose: () => void }) {
  const words = useWords();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);

  const deleteIt = async () => {
    setBusy(true);
    try {
      await eraseConversation(conversation);
      onClose();
      onChanged();
      toasts.show({ text: words.chat.deleted });
      if (isCurrent) go(buildAddress("chat"), { replace: true });
    } catch (error) {
      setBusy(false);
      toasts.fail(error);
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>{words.common.cancel}</Button>
      <Button tone="danger" icon="trash" busy={isBusy} onClick={() => void deleteIt()}>
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
