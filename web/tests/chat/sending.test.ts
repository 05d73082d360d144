import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openConversation } from "../../src/chat/conversationLoading";
import { say, sayAgain, sayInstead } from "../../src/chat/sending";
import { dropThread, getOpenThreads, getThread, stop, writeDraft } from "../../src/chat/threads";
import { getAnswer } from "../../src/chat/turns";
import { hasUnsaved } from "../../src/unsavedChanges";

const KEY = "web:test";

interface Request {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

let requests: Request[];
/** What the server answers, by method and path. */
let answers: Record<string, (request: Request, signal?: AbortSignal) => Response | Promise<Response>>;

const streamOf = (...events: [string, unknown][]) =>
  new Response(events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
const json = (value: unknown, status = 200) => Response.json(value, { status });
const stored = (id: number, role: string, content: string, parent: number | null = null) => ({
  id, role, content, parent, versions: [id], trust: role, status: "complete", timestamp: "2026-11-17T04:00:00Z",
});
const page = (...messages: unknown[]) => json({ title: "燈", searched: true, earlier: false, later: false, messages });

beforeEach(() => {
  requests = [];
  answers = {
    "GET api/memory/changes": () => json({ changes: [] }),
    "GET api/memory/pending": () => json({ pending: [] }),
    "GET api/conversations/web%3Atest": () => page(stored(1, "user", "燈？"), stored(2, "assistant", "小明", 1)),
    "POST api/chat": () => streamOf(["start", { model: "m" }], ["text", { text: "小明" }], ["done", {}]),
  };
  vi.stubGlobal("fetch", async (address: string, { method, body, signal }: RequestInit) => {
    const path = new URL(address).pathname.replace("/turnleaf/", "");
    const request = { method: method!, path, body: body ? JSON.parse(String(body)) : {} };
    requests.push(request);
    return answers[`${method} ${path}`]!(request, signal ?? undefined);
  });
});
afterEach(() => getOpenThreads().forEach(({ key }) => dropThread(key)));

const turns = () => getThread(KEY)!.turns;
const chats = () => requests.filter(({ path }) => path === "api/chat").map(({ body }) => body);
/** Wait until something is so: what answers is not awaited by whoever presses a button. */
const until = (isSo: () => boolean) => vi.waitUntil(isSo, { interval: 1 });

describe("a message that is sent", () => {
  test("gets its answer, and the ids under which both are stored", async () => {
    await say(KEY, false, "燈？", []);
    expect(turns().map((turn) => [turn.question, getAnswer(turn), turn.state])).toEqual([["燈？", "小明", "done"]]);
    expect(turns()[0]!.asked?.id).toBe(1);
    expect(chats()).toMatchObject([{ message: "燈？", key: KEY, private: false, resume: false }]);
  });

  test("in private is neither looked up nor kept", async () => {
    await say(KEY, true, "祕密", []);
    expect(requests.map(({ path }) => path)).toEqual(["api/chat"]);
    expect(hasUnsaved()).toBe(true);
  });

  test("that the server refuses stays, with the reason", async () => {
    answers["POST api/chat"] = () => json({ title: "Full", status: 507, detail: "full", code: "memory-full" }, 507);
    await say(KEY, false, "燈？", []);
    expect(turns()[0]).toMatchObject({ question: "燈？", state: "failed", problem: { code: "memory-full" } });
    expect(hasUnsaved()).toBe(true);
  });

  test("whose answer breaks off keeps what came", async () => {
    answers["POST api/chat"] = () => streamOf(["start", { model: "m" }], ["text", { text: "小" }]);
    await say(KEY, false, "燈？", []);
    expect(turns()[0]).toMatchObject({ state: "failed", problem: { status: 0 }, pieces: [{ text: "小" }] });
  });

  test("can be stopped", async () => {
    answers["POST api/chat"] = (_, signal) =>
      new Promise((_resolve, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    answers["GET api/conversations"] = () => json({ conversations: [{ key: KEY }] });
    const sending = say(KEY, false, "燈？", []);
    await until(() => chats().length === 1);
    stop(KEY);
    await sending;
    expect(turns()[0]).toMatchObject({ state: "stopped", asked: { id: 1 } });
  });
});

describe("a message that is sent once more", () => {
  beforeEach(() => openConversation(KEY));

  test("takes the place of the last one, as another version", async () => {
    sayAgain(KEY, turns()[0]!.id);
    await until(() => turns()[0]?.state === "done");
    expect(chats()).toMatchObject([{ message: "燈？", again: true }]);
    expect(turns()).toHaveLength(1);
  });

  test("in other words follows what the first one followed", async () => {
    answers["GET api/conversations/web%3Atest"] = () =>
      page(stored(1, "user", "燈？"), stored(2, "assistant", "小明", 1), stored(3, "user", "窗？", 2), stored(4, "assistant", "?", 3));
    await openConversation(KEY, null, true);
    sayInstead(KEY, turns()[1]!.id, "門？");
    expect(turns().map(({ question }) => question)).toEqual(["燈？", "門？"]);
    await until(() => turns()[1]?.state === "done");
    expect(chats()).toMatchObject([{ message: "門？", after: 2 }]);
  });

  test("is not, while another answer is on its way", async () => {
    const [first] = turns();
    answers["POST api/chat"] = () => new Promise(() => undefined);
    void say(KEY, false, "窗？", []);
    await until(() => chats().length === 1);
    sayAgain(KEY, first!.id);
    sayInstead(KEY, first!.id, "門？");
    expect(turns().map(({ question }) => question)).toEqual(["燈？", "窗？"]);
  });
});

describe("a conversation", () => {
  test("that is not there is missing", async () => {
    answers["GET api/conversations/web%3Atest"] = () => json({ title: "x", status: 404, detail: "", code: "not-found" }, 404);
    await openConversation(KEY);
    expect(getThread(KEY)).toMatchObject({ state: "missing" });
  });

  test("with a draft is not reloaded over", () => {
    expect(hasUnsaved()).toBe(false);
    writeDraft(KEY, { text: "half a sen" });
    expect(hasUnsaved()).toBe(true);
    dropThread(KEY);
    expect(hasUnsaved()).toBe(false);
  });
});
