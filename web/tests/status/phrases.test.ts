import { describe, expect, test } from "vitest";
import { en } from "../../src/status/en";
import { rephrase, splitWhy, writeMoments } from "../../src/status/phrases";
import { zhTW } from "../../src/status/zh-TW";

describe("what the server says of itself", () => {
  test.each([
    [
      "none (pip install 'turnleaf[embeddings]', or set EMBEDDINGS_URL)",
      "none (whoever runs this server can install one, or enter its address in Settings)",
      "無（可以請伺服器的管理者安裝，或到「設定」填入語意模型的網址）",
    ],
    [
      "groq:llama cannot answer: GROQ_API_KEY is not set; run turnleaf setup",
      "groq:llama cannot answer: its key is missing; set it in Settings, or choose another model",
      "groq:llama 無法回答：缺少金鑰，請到「設定」填入，或選擇其他模型。",
    ],
    [
      "claude-cli cannot answer: the program claude is not installed; run turnleaf setup",
      "claude-cli cannot answer: the program claude is not installed; choose another model in Settings",
      "claude-cli 無法回答：沒有安裝 claude 程式，請到「設定」選擇其他模型。",
    ],
    [
      "http://localhost:11434/v1 cannot be reached; check that its server runs, and the network",
      "http://localhost:11434/v1 cannot be reached; check that its server runs, and the network",
      "連不上 http://localhost:11434/v1。請確認那裡的伺服器正在執行。",
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
    [
      "there is a second data folder at /a/b, which is not used; --data-dir or TURNLEAF_DATA_DIR chooses between them",
      "there is a second data folder at /a/b, which is not used; whoever runs this server can switch to it",
      "另外還有一個資料夾 /a/b，目前沒有使用；伺服器的管理者可以改用它。",
    ],
  ])("%s", (said, english, chinese) => {
    expect(rephrase(said, en.phrases)).toBe(english);
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
