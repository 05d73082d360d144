import { useEffect, useState } from "react";
import { useWords } from "../i18n";
import { Icon } from "./Icon";

const SHOWN_MS = 2_000;

/** Copies a text, and says that it did. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  const name = isCopied ? words.common.copied : (label ?? words.common.copy);

  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  return (
    <button
      type="button"
      className="copy"
      aria-label={name}
      title={name}
      onClick={() => void copy(text).then(setCopied)}
    >
      <Icon name={isCopied ? "check" : "copy"} />
    </button>
  );
}

/** Copy; a page that is not served from this machine or over TLS has only the old way. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isDone;
}
