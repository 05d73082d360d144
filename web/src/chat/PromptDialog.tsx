import type { Preview } from "../api";
import { useFormat, useWords } from "../i18n";
import { NO_MODEL } from "../models/modelChoices";
import { rephrase } from "../status/phrases";
import { Dialog, Icon, Notice } from "../ui";
import { CopyButton } from "../ui/CopyButton";
import { type PromptPart, splitPrompt } from "./promptParts";

interface PromptDialogProps {
  prompt: Preview;
  question: string;
  onClose: () => void;
}

/** All that a model was told, and how much of its room each part takes. */
export function PromptDialog({ prompt, question, onClose }: PromptDialogProps) {
  const words = useWords().chat;
  const format = useFormat();
  const parts = splitPrompt(prompt, question);
  const share = format.percent(prompt.tokens / prompt.maxTokens);
  const total = words.promptTokens(format.number(prompt.tokens), format.number(prompt.maxTokens), share);
  return (
    <Dialog wide title={words.promptTitle} onClose={onClose}>
      <div className="chat-prompt">
        <p className="chat-prompt-lead">
          <span>{prompt.model === NO_MODEL ? words.promptWithoutModel : words.promptText(prompt.model)}</span>
          <CopyButton text={prompt.text} label={words.copyPrompt} />
        </p>
        <div className="chat-prompt-whole">
          <p>{total}</p>
          <div className="chat-prompt-stack" role="img" aria-label={total}>
            {parts.map((part) => (
              <span
                key={part.name}
                className={`chat-part-${part.name}`}
                style={{ width: `${(part.tokens / Math.max(prompt.maxTokens, prompt.tokens)) * 100}%` }}
              />
            ))}
          </div>
        </div>
        {prompt.leftOut.map((text) => (
          <Notice key={text} tone="warn">
            <p>{rephrase(text, words.leftOut)}</p>
          </Notice>
        ))}
        {parts.map((part) => (
          <PartView key={part.name} part={part} share={part.tokens / prompt.tokens} />
        ))}
      </div>
    </Dialog>
  );
}

function PartView({ part, share }: { part: PromptPart; share: number }) {
  const words = useWords().chat;
  const format = useFormat();
  return (
    <details className="chat-part" open={part.name !== "system"}>
      <summary>
        <Icon name="chevronRight" />
        <span className={`chat-part-dot chat-part-${part.name}`} />
        <span className="chat-part-name">{words.parts[part.name]}</span>
        <span className="chat-part-bar" aria-hidden="true">
          <span className={`chat-part-${part.name}`} style={{ width: `${share * 100}%` }} />
        </span>
        <span className="chat-part-tokens">{words.tokens(format.number(part.tokens))}</span>
      </summary>
      <pre tabIndex={0}>{part.text}</pre>
    </details>
  );
}
