import { useState } from "react";
import { api } from "../api";
import { useWords } from "../i18n";
import { buildAddress } from "../route";
import { readItem, saveItem } from "../storage";
import { Icon, IconButton } from "../ui";
import { useLoaded } from "../useLoaded";

const NAME = "keptNoticeRead";

/** Says on the first visits what is kept of conversations, until somebody has read it. */
export function RetentionNotice() {
  const [isRead, setRead] = useState(() => readItem(NAME) !== null);
  const close = () => {
    saveItem(NAME, "1");
    setRead(true);
  };
  return isRead ? null : <Retention onClose={close} />;
}

function Retention({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const { value } = useLoaded((signal) => api.getStatus(signal), []);
  const span = value?.conversations?.kept;
  return (
    <p className="chat-retention">
      {span && (
        <>
          <Icon name="info" />
          <span>
            {words.chat.kept(span)}{" "}
            <a href={`${buildAddress("settings")}?group=conversations`}>{words.chat.changeKept}</a>
          </span>
          <IconButton small icon="close" label={words.common.close} onClick={onClose} />
        </>
      )}
    </p>
  );
}
