import type { AnchorHTMLAttributes } from "react";
import { messageAddress } from "../route";
import { open } from "./reading";

interface MessageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  conversation: string;
  message: number;
}

/** A link to a message; pressed again, it leads there again, though the address stays. */
export function MessageLink({ conversation, message, ...rest }: MessageLinkProps) {
  const href = messageAddress(conversation, message);
  const follow = () => {
    if (location.hash === href) void open(conversation, message);
  };
  return <a {...rest} href={href} onClick={follow} />;
}
