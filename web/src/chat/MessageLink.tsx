import type { AnchorHTMLAttributes } from "react";
import { buildMessageAddress } from "../route";
import { openConversation } from "./conversationLoading";

interface MessageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  conversation: string;
  message: number;
}

/** A link to a message; pressed again, it leads there again, though the address stays. */
export function MessageLink({ conversation, message, ...rest }: MessageLinkProps) {
  const href = buildMessageAddress(conversation, message);
  const follow = () => {
    if (location.hash === href) void openConversation(conversation, message);
  };
  return <a {...rest} href={href} onClick={follow} />;
}
