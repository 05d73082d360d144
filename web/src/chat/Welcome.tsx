import { useWords } from "../i18n";
import { Icon, type IconName, Logo } from "../ui";
import { MemorySummary } from "./MemorySummary";
import { RetentionNotice } from "./RetentionNotice";

const ICONS: IconName[] = ["leaf", "search", "spark"];

/** Nothing was said yet: what one could say, and what then happens. */
export function Welcome({ onPick }: { onPick: (example: string) => void }) {
  const words = useWords().chat;
  return (
    <div className="chat-welcome">
      <Logo />
      <h2>{words.welcome}</h2>
      <p>{words.welcomeText}</p>
      <RetentionNotice />
      <ul>
        {words.examples.map(({ text, why }, at) => (
          <li key={text}>
            <button type="button" onClick={() => onPick(text)}>
              <Icon name={ICONS[at] ?? "chat"} />
              <span className="chat-example">{text}</span>
              <span className="chat-example-why">{why}</span>
            </button>
          </li>
        ))}
      </ul>
      <MemorySummary />
    </div>
  );
}
