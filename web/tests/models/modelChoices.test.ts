import { describe, expect, test } from "vitest";
import type { Config, ModelProvider, ModelsView } from "../../src/api";
import {
  findLack,
  isOnThisMachine,
  isUndecided,
  listDestinations,
  listKeyed,
  listPicks,
  planChange,
  shortenName,
} from "../../src/models/modelChoices";

const OLLAMA = "http://localhost:11434/v1";

function provider(name: string, part: Partial<ModelProvider> = {}): ModelProvider {
  return { name, label: name.toUpperCase(), local: false, url: null, needsKey: false, key: null, variable: null, ...part };
}

function makeView(name: string, part: Partial<ModelsView> = {}): ModelsView {
  return {
    current: { name, why: "", url: null, lack: null },
    wordsGo: { local: true, to: [], sentence: "" },
    found: [{ provider: "ollama", label: "Ollama", url: OLLAMA, models: ["ollama:qwen3:8b", "ollama:gemma:latest"] }],
    providers: [
      provider("openai", { url: "https://api.openai.com/v1", needsKey: true, label: "OpenAI", key: "file" }),
      provider("groq", { url: "https://api.groq.com/openai/v1", needsKey: true, label: "Groq" }),
      provider("ollama", { url: OLLAMA, local: true, label: "Ollama" }),
      provider("compatible", { label: "Own" }),
    ],
    operator: true,
    ...part,
  };
}

function makeConfig(part: Partial<Config> = {}): Config {
  const config = { model: null, modelUrl: null, enabled: true, autoExtract: true, extractModel: null, locked: [] };
  return { ...config, embeddings: false, embeddingsUrl: null, ...part } as unknown as Config;
}

describe("a choice", () => {
  const view = makeView("recall");

  test.each([
    ["of a model at its usual address clears the address of another", "ollama:qwen3:8b", OLLAMA, { modelUrl: null }],
    ["of a model elsewhere names the address", "compatible:m", "http://localhost:8000/v1", { modelUrl: "http://localhost:8000/v1" }],
    ["of no model clears it", "recall", null, { modelUrl: null }],
    ["of a provider's model clears it", "openai:gpt", null, { modelUrl: null }],
    ["at the address that is set leaves it", "ollama:qwen3:8b", "http://x/v1", {}],
  ])("%s", (_, model, url, changed) => {
    expect(planChange({ model, url }, view, makeConfig({ modelUrl: "http://x/v1" }))).toEqual({ model, ...changed });
  });

  test("leaves an address that the environment fixes", () => {
    const config = makeConfig({ modelUrl: "http://x", locked: ["modelUrl"] });
    expect(planChange({ model: "openai:gpt", url: null }, view, config)).toEqual({ model: "openai:gpt" });
  });

  test("is asked for until there is one, and not where it is fixed", () => {
    expect(isUndecided(makeConfig())).toBe(true);
    expect(isUndecided(makeConfig({ model: "recall" }))).toBe(false);
    expect(isUndecided(makeConfig({ locked: ["model"] }))).toBe(false);
  });
});

test.each([
  ["ollama:qwen3:8b", "qwen3:8b"],
  ["claude-cli", "claude"],
  ["claude-cli:opus", "opus"],
  ["recall", "recall"],
])("%s is called %s", (model, name) => {
  expect(shortenName(model)).toBe(name);
});

test.each([
  ["http://localhost:1234/v1", true],
  ["http://127.0.0.1/v1", true],
  ["http://[::1]:8080", true],
  ["http://localhost.example/v1", false],
  ["http://192.168.1.5:11434", false],
  ["no address", false],
])("%s is on this machine: %s", (url, isHere) => {
  expect(isOnThisMachine(url)).toBe(isHere);
});

test("providers with a key are those that can be asked for their models", () => {
  expect(listKeyed(makeView("recall")).map(({ name }) => name)).toEqual(["openai"]);
});

describe("a model cannot answer", () => {
  test("without its key", () => {
    const current = { name: "groq:llama", why: "", url: "https://api.groq.com/openai/v1", lack: "GROQ_API_KEY is not set" };
    expect(findLack(makeView("", { current }))).toEqual({ kind: "key", label: "Groq" });
  });

  test("if its name is none", () => {
    const current = { name: "nonsense", why: "", url: null, lack: "is no model" };
    expect(findLack(makeView("", { current }))).toEqual({ kind: "unusable", label: "nonsense" });
  });

  test("while its server is not running", () => {
    const current = { name: "ollama:qwen3:8b", why: "", url: OLLAMA, lack: null };
    expect(findLack(makeView("", { current, found: [] }))).toEqual({ kind: "away", label: "Ollama" });
    const far = { ...current, url: "http://192.168.1.5:11434/v1" };
    expect(findLack(makeView("", { current: far, found: [] }))).toBeNull();
  });

  test.each([
    ["ollama:qwen3:8b", null],
    ["ollama:gemma", null],
    ["ollama:llama", { kind: "missing", label: "Ollama" }],
  ])("if Ollama does not have it: %s", (name, lack) => {
    expect(findLack(makeView("", { current: { name, why: "", url: OLLAMA, lack: null } }))).toEqual(lack);
  });
});

describe("a conversation", () => {
  test("may be answered by what is set, found, used lately and can be asked, or by none", () => {
    const view = makeView("openai:gpt");
    const recent = ["openai:o9", "groq:llama", "compatible:m", "openai:gpt"];
    expect(listPicks(view, recent).map(({ model, isLocal }) => [model, isLocal])).toEqual([
      ["openai:gpt", false],
      ["ollama:qwen3:8b", true],
      ["ollama:gemma:latest", true],
      ["openai:o9", false],
      ["recall", true],
    ]);
  });

  test("is offered only what sends words to nobody else, unless whoever runs it picks", () => {
    const view = makeView("ollama:qwen3:8b", { operator: false });
    expect(listPicks(view, ["openai:o9"]).map(({ model }) => model)).toEqual([
      "ollama:qwen3:8b",
      "ollama:gemma:latest",
      "recall",
    ]);
  });

  test("is not offered what was found at an address that is not its provider's", () => {
    const found = [{ provider: "compatible", label: "Own", url: "http://localhost:8000/v1", models: ["compatible:m"] }];
    expect(listPicks(makeView("recall", { found }), []).map(({ model }) => model)).toEqual(["recall"]);
  });
});

describe("words go", () => {
  const view = makeView("openai:gpt", { wordsGo: { local: false, to: ["OpenAI"], sentence: "" } });

  test("where the settings say, as long as nothing else is picked", () => {
    expect(listDestinations("openai:gpt", view, makeConfig())).toEqual(["OpenAI"]);
  });

  test("also to the model that learns from the conversation", () => {
    expect(listDestinations("ollama:qwen3:8b", view, makeConfig())).toEqual(["OpenAI"]);
    expect(listDestinations("ollama:qwen3:8b", view, makeConfig({ extractModel: "rules" }))).toEqual([]);
    expect(listDestinations("ollama:qwen3:8b", view, makeConfig({ autoExtract: false }))).toEqual([]);
    expect(listDestinations("claude-cli", view, makeConfig())).toEqual(["Anthropic", "OpenAI"]);
  });

  test("to a server of embeddings that is elsewhere", () => {
    const config = makeConfig({ autoExtract: false, embeddings: true, embeddingsUrl: "https://vectors.example/v1" });
    expect(listDestinations("recall", view, config)).toEqual(["vectors.example"]);
  });
});
