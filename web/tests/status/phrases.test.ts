import { describe, expect, test } from "vitest";
import { en } from "../../src/status/en";
import { zhTW as chatZhTW } from "../../src/chat/zh-TW";
import { rephrase, splitWhy, writeDays, writeMoments } from "../../src/status/phrases";
import { zhTW } from "../../src/status/zh-TW";

describe("what the server says of itself", () => {
  test.each([
    [
      "none (pip install 'turnleaf[embeddings]', or set EMBEDDINGS_URL)",
      "none (whoever runs the server can install one, or enter its address in Settings)",
      "無（可以請伺服器的管理者安裝，或到「設定」填入語意模型的網址）",
    ],
    ["none (optional)", "none (optional)", "沒有，也不需要"],
    ["by words and meaning", "by words and meaning", "比對字詞與語意"],
    ["1,234 facts, 5,678 characters", "1,234 facts, 5,678 characters", "1,234 則記憶，共 5,678 個字元"],
    [
      "3 conversations, 6 messages, oldest 2026-11-17, 131,392 bytes",
      "3 conversations, 6 messages, oldest 2026-11-17",
      "3 段對話，6 則訊息，最早的是 2026-11-17",
    ],
    ["bge-m3 at http://localhost/v1", "bge-m3 at http://localhost/v1", "bge-m3，網址 http://localhost/v1"],
    ["by rules; nothing learned yet", "by rules; nothing learned yet", "規則；尚未學到什麼"],
  ])("%s", (said, english, chinese) => {
    expect(rephrase(said, en.phrases)).toBe(english);
    expect(rephrase(said, zhTW.phrases)).toBe(chinese);
  });

  test.each([
    [
      "groq:llama cannot answer: GROQ_API_KEY is not set; run turnleaf setup",
      "groq:llama cannot answer: its key is missing; set it in Settings, or choose another model",
    ],
    [
      "claude-cli cannot answer: the program claude is not installed; run turnleaf setup",
      "claude-cli cannot answer: the program claude is not installed; choose another model in Settings",
    ],
    [
      "there is a second data folder at /a/b, which is not used; --data-dir or TURNLEAF_DATA_DIR chooses between them",
      "there is a second data folder at /a/b, which is not used; whoever runs the server can switch to it",
    ],
  ])("%s: what to do can be done in the page", (said, english) => {
    expect(rephrase(said, en.phrases)).toBe(english);
  });

  test.each([
    ["groq:llama 無法回答：沒有設定 GROQ_API_KEY；請執行 turnleaf setup", "groq:llama 無法回答：缺少金鑰，請到「設定」填入，或選擇其他模型。"],
    ["claude-cli 無法回答：沒有安裝 claude 程式；請執行 turnleaf setup", "claude-cli 無法回答：沒有安裝 claude 程式，請到「設定」選擇其他模型。"],
    ["另外還有一個資料夾 /a/b，目前沒有使用；用 --data-dir 可以選擇", "另外還有一個資料夾 /a/b，目前沒有使用；伺服器的管理者可以改用它。"],
    ["排程「早」在 8 點就該執行了，卻沒有程式執行它；請啟動 turnleaf serve", "排程「早」在 8 點就該執行了，卻沒有程式執行它；請伺服器的管理者啟動。"],
  ])("%s", (said, chinese) => {
    expect(rephrase(said, zhTW.phrases)).toBe(chinese);
  });

  test("is left as it is where no words for it are known", () => {
    expect(rephrase("openai:gpt-5", zhTW.phrases)).toBe("openai:gpt-5");
  });
});

test("a moment is written as the reader's language does", () => {
  const write = (iso: string) => `<${iso}>`;
  expect(writeMoments("due 2026-11-16T23:30:32.472Z, not 2026-11-16", write)).toBe("due <2026-11-16T23:30:32.472Z>, not 2026-11-16");
});

describe("why something is so", () => {
  test.each([
    ["recall (no model)", "recall", "no model"],
    ["規則；尚未學到什麼", "規則", "尚未學到什麼"],
    ["無（請安裝）", "無", "請安裝"],
    ["by rules", "by rules", null],
    ["by rules; one; two", "by rules", "one; two"],
  ])("stands apart in %s", (text, main, why) => {
    expect(splitWhy(text)).toEqual({ main, why });
  });
});

test("a day is written as the reader's language does", () => {
  expect(writeDays("oldest 2026-11-16, due 2026-11-16T23:30Z", (day) => `<${day}>`)).toBe("oldest <2026-11-16>, due 2026-11-16T23:30Z");
});

test("what a prompt had no room for is said in the reader's language", () => {
  const said =
    "Left out because the prompt was too long: the middle of the message, 3 passages found, 12 older messages of this conversation, the end of notes.txt. The setting promptMaxTokens says how long it may be.";
  expect(rephrase(said, chatZhTW.leftOut)).toBe(
    "提示詞太長，所以省略了：訊息的中段、找到的 3 段內容、這段對話較早的 12 則訊息、notes.txt 的後半段。上限是「設定」裡的「提示詞長度上限」。",
  );
});
