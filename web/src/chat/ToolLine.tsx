import { useWords, type Words } from "../i18n";
import { Icon, type IconName, Spinner } from "../ui";
import type { ToolUse } from "./turns";

type ToolWords = Words["chat"]["tools"];

/** That the model used a tool: one quiet line, with what it asked and got on request. */
export function ToolLine({ tool, isGoing }: { tool: ToolUse; isGoing: boolean }) {
  const words = useWords().chat.tools;
  const [icon, text] = describeTool(tool, words);
  const hasFailed = tool.result?.success === false;
  return (
    <details className="chat-tool">
      <summary>
        {!tool.result && isGoing ? <Spinner /> : <Icon name={icon} />}
        <span>{text}</span>
        {hasFailed && <span className="chat-tool-failed">{words.failed}</span>}
      </summary>
      <dl>
        <dt>{words.asked}</dt>
        <dd>
          <pre tabIndex={0}>{JSON.stringify({ [tool.name]: tool.arguments }, null, 2)}</pre>
        </dd>
        {tool.result && (
          <>
            <dt>{words.gave}</dt>
            <dd>
              <pre tabIndex={0}>{JSON.stringify(tool.result, null, 2)}</pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** Say in words what a tool did. */
function describeTool({ name, arguments: given }: ToolUse, words: ToolWords): [IconName, string] {
  const text = (key: string) => (typeof given[key] === "string" ? given[key] : "");
  switch (name === "manage_memory" ? text("action") : name) {
    case "read_memory":
      return ["book", words.read];
    case "list":
      return ["list", words.list];
    case "search_memory":
      return ["search", words.search(text("query"))];
    case "search":
      return ["search", words.search(text("search") || text("content"))];
    case "append_memory":
      return ["leaf", words.save(text("fact"))];
    case "save":
      return ["leaf", words.save(text("content"))];
    case "update":
      return ["edit", words.update(text("content"))];
    case "delete":
      return ["trash", words.delete];
    case "append_daily_log":
      return ["calendar", words.log(text("entry"))];
    default:
      return ["settings", words.other(name)];
  }
}
