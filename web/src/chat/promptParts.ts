/** A prompt taken apart into the sections that it was made of. */

import type { Preview } from "../api";

export type PartName = "system" | "memory" | "context" | "notes" | "history" | "message";

export interface PromptPart {
  name: PartName;
  tokens: number;
  text: string;
}

const PARTS: Record<string, PartName> = {
  "System prompt": "system",
  "Long-term Memory": "memory",
  "Relevant Past Context": "context",
  Notes: "notes",
  History: "history",
  Message: "message",
};
const MEMORY_HEAD = "## Long-term Memory\n<";

/** Return each section with its size and its text, in the order in which the model reads them. */
export function splitPrompt(prompt: Preview, question: string): PromptPart[] {
  const texts = splitTexts(prompt, question);
  return prompt.sections.map(({ name, tokens }) => {
    const part = PARTS[name] ?? "system";
    return { name: part, tokens, text: texts[part] };
  });
}

function splitTexts({ system, messages }: Preview, question: string): Record<PartName, string> {
  const at = system.indexOf(MEMORY_HEAD);
  const asked = messages.at(-1)?.content ?? "";
  const isWhole = asked.endsWith(question);
  const context = isWhole ? asked.slice(0, asked.length - question.length).trim() : "";
  return {
    system: (at < 0 ? system : system.slice(0, at)).trim(),
    memory: at < 0 ? "" : system.slice(at),
    context,
    notes: context,
    history: messages
      .slice(0, -1)
      .map(({ role, content }) => `[${role}]\n${content}`)
      .join("\n\n"),
    message: isWhole ? question : asked,
  };
}
