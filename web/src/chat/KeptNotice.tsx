import { useState } from "react";
import { api } from "../api";
import { useWords } from "../i18n";
import { useLoaded } from "../loading";
import { to } from "../route";
import { keep, kept } from "../storage";
import { Icon, IconButton } from "../ui";

const NAME = "keptNoticeRead";

/** Says on the first visits what is kept of conversations, until somebody has read it. */
export function KeptNotice() {
  const [isRead, setRead] = useState(() => kept(NAME) !== null);
  const close = () => {
    keep(NAME, "1");
    setRead(true);
  };
  return isRead ? null : <Kept onClose={close} />;
}

function Kept({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const { value } = useLoaded((signal) => api.status(signal), []);
  const span = value?.conversations?.kept;
  return (
    <p className="chat-kept">
      {span && (
        <>
          <Icon name="info" />
          <span>
            {words.chat.kept(span)} <a href={`${to("settings")}?group=conversations`}>{words.chat.changeKept}</a>
          </span>
          <IconButton small icon="close" label={words.common.close} onClick={onClose} />
        </>
      )}
    </p>
  );
}
