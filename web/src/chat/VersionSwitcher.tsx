import { useRef } from "react";
import { useWords } from "../i18n";
import { IconButton, useToasts } from "../ui";
import { showVersion } from "./conversationLoading";
import type { StoredMessage } from "./turns";

interface VersionSwitcherProps {
  conversation: string;
  of: StoredMessage;
  isBusy: boolean;
}

/** Leads from one version of a message to the others. */
export function VersionSwitcher({ conversation, of, isBusy }: VersionSwitcherProps) {
  const words = useWords().chat;
  const toasts = useToasts();
  const place = useRef<HTMLDivElement>(null);
  const at = of.versions.indexOf(of.id ?? 0);
  const count = of.versions.length;
  if (count < 2 || at < 0) return null;

  const show = async (step: number, focus: string) => {
    const top = place.current!.getBoundingClientRect().top;
    try {
      await showVersion(conversation, of.versions[at + step]!, { top, focus });
    } catch (error) {
      toasts.fail(error);
    }
  };
  const one = (name: "previous" | "next", step: number) => (
    <IconButton
      small
      name={name}
      icon={step < 0 ? "chevronLeft" : "chevronRight"}
      label={words.versions[name]}
      disabled={isBusy || !of.versions[at + step]}
      onClick={() => void show(step, name)}
    />
  );
  return (
    <div ref={place} className="chat-versions" role="group" aria-label={words.versions.label}>
      {one("previous", -1)}
      <span aria-hidden="true">{`${at + 1}/${count}`}</span>
      <span className="visually-hidden">{words.versions.which(at + 1, count)}</span>
      {one("next", 1)}
    </div>
  );
}
