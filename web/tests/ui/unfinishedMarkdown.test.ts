import { expect, test } from "vitest";
import { closeUnfinished } from "../../src/ui/unfinishedMarkdown";

test.each([
  ["a **bold", "a **bold**"],
  ["a **", "a "],
  ["run `npm", "run `npm`"],
  ["see [the docs](https://exa", "see the docs"],
  ["text\n-", "text"],
  ["text\n## ", "text"],
  ["text\n1.", "text"],
  ["text\n| a | b |\n|--", "text"],
  ["客廳的燈叫做**小明", "客廳的燈叫做**小明**"],
  ["```js\nconst a = `", "```js\nconst a = `"],
  ["all is **well** here.", "all is **well** here."],
])("%j is shown as %j until more of it comes", (text, shown) => {
  expect(closeUnfinished(text)).toBe(shown);
});

test("a text grows without anything that was shown being taken back", () => {
  const text = "One **two** three.\n\n- four `five`\n";
  const seen = Array.from(text, (_, at) => closeUnfinished(text.slice(0, at + 1)).replace(/[*`]/g, "").trimEnd());
  const plain = text.replace(/[*`]/g, "");
  for (const shown of seen) expect(plain.startsWith(shown), shown).toBe(true);
});
