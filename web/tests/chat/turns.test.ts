import { describe, expect, test } from "vitest";
import type { ChatEvent, Message } from "../../src/api";
import { buildTurns, findFirstId, findLastId, hasMessage, joinPages, mergeStored } from "../../src/chat/storedTurns";
import { applyEvent, getAnswer, isLongWait, isUnderWay, newTurn, type Turn } from "../../src/chat/turns";

const TIME = "2026-11-17T04:00:00Z";

function message(id: number, role: Message["role"], content: string, part: Partial<Message> = {}): Message {
  const plain = { timestamp: TIME, status: "complete", parent: null, versions: [id], trust: role, hidden: false };
  return { ...plain, id, role, content, ...part } as Message;
}

function tell(...events: { name: string; data: unknown }[]): Turn {
  return events.reduce((turn, event) => applyEvent(turn, event as ChatEvent), newTurn("客廳的燈叫什麼？", [], TIME));
}

const text = (said: string) => ({ name: "text", data: { text: said } });
const tool = { name: "tool", data: { id: "1", name: "search_memory", arguments: { query: "燈" } } };

describe("the wait for the first word", () => {
  test("is long after eight seconds, where a model was asked", () => {
    expect(isLongWait(7, "ollama:qwen3")).toBe(false);
    expect(isLongWait(8, "ollama:qwen3")).toBe(true);
  });

  test("is not said to be for reading where no model reads", () => {
    expect(isLongWait(60, "recall")).toBe(false);
    expect(isLongWait(60, null)).toBe(false);
  });
});

describe("an answer that comes", () => {
  test("is one text, without the spaces before it", () => {
    const turn = tell(text("\n小"), text("明 "), text("。"));
    expect(turn.pieces).toEqual([{ kind: "text", text: "小明 。" }]);
    expect(turn.state).toBe("answering");
    expect(isUnderWay(turn)).toBe(true);
  });

  test("has its tools where they were used, with what they gave", () => {
    const turn = tell(text("Let me see."), tool, { name: "toolResult", data: { id: "1", result: { found: 1 } } }, text("小明"));
    expect(turn.pieces.map((piece) => piece.kind)).toEqual(["text", "tool", "text"]);
    expect(turn.pieces[1]).toMatchObject({ name: "search_memory", result: { found: 1 } });
    expect(getAnswer(turn)).toBe("Let me see.\n\n小明");
  });

  test("ends well, or with a problem that keeps what was said", () => {
    expect(tell(text("小明"), { name: "done", data: {} })).toMatchObject({ state: "done", problem: null });
    const failed = tell(text("小"), { name: "error", data: { title: "x", status: 502, detail: "gone", code: "model" } });
    expect(failed).toMatchObject({ state: "failed", problem: { code: "model" } });
    expect(getAnswer(failed)).toBe("小");
    expect(isUnderWay(failed)).toBe(false);
  });

  test("is not disturbed by an event that this page does not know", () => {
    const turn = tell(text("小明"));
    expect(applyEvent(turn, { name: "tomorrows", data: {} } as never)).toBe(turn);
  });
});

describe("stored messages", () => {
  test("are turns of a question and its answer", () => {
    const turns = buildTurns([message(1, "user", "燈？"), message(2, "assistant", "小明"), message(3, "user", "謝謝")]);
    expect(turns.map((turn) => [turn.question, getAnswer(turn), turn.state])).toEqual([
      ["燈？", "小明", "done"],
      ["謝謝", "", "done"],
    ]);
    expect([findFirstId(turns), findLastId(turns)]).toEqual([1, 3]);
    expect([hasMessage(turns, 2), hasMessage(turns, 9)]).toEqual([true, false]);
  });

  test("of the system are not shown", () => {
    expect(buildTurns([message(1, "system", "Be kind.")])).toEqual([]);
  });

  test("with parts are their texts", () => {
    const parts = [{ type: "text", text: "客廳" }, { type: "image" }, { type: "text", text: "的燈" }];
    expect(buildTurns([message(1, "user", "", { content: parts as never })])[0]!.question).toBe("客廳的燈");
  });

  test("of tools are put to their calls", () => {
    const call = { id: "c", function: { name: "search_memory", arguments: '{"query": "燈"}' } };
    const [turn] = buildTurns([
      message(1, "user", "燈？"),
      message(2, "assistant", "", { toolCalls: [call] as never }),
      message(3, "tool", '{"found": 1}', { toolCallId: "c" }),
      message(4, "tool", "no JSON", { toolCallId: "lost", name: "other" }),
    ]);
    expect(turn!.pieces).toEqual([
      { kind: "tool", id: "c", name: "search_memory", arguments: { query: "燈" }, result: { found: 1 } },
      { kind: "tool", id: "lost", name: "other", arguments: {}, result: { text: "no JSON" } },
    ]);
  });

  test.each([
    ["stopped", "stopped"],
    ["failed", "failed"],
    ["answering", "elsewhere"],
  ] as const)("that are %s make the turn %s", (status, state) => {
    expect(buildTurns([message(1, "user", "燈？", { status })])[0]!.state).toBe(state);
  });
});

describe("two pages of a conversation", () => {
  test("are joined where an answer was torn from its question", () => {
    const older = buildTurns([message(1, "user", "燈？")]);
    const newer = buildTurns([message(2, "assistant", "小明"), message(3, "user", "謝謝")]);
    const joined = joinPages(older, newer, "newer");
    expect(joined.map((turn) => [turn.question, getAnswer(turn)])).toEqual([
      ["燈？", "小明"],
      ["謝謝", ""],
    ]);
    expect(joined[0]!.id).toBe(newer[0]!.id);
  });

  test("stay apart where a question begins the second", () => {
    const [older, newer] = [buildTurns([message(1, "user", "一")]), buildTurns([message(2, "user", "二")])];
    expect(joinPages(older, newer, "older")).toEqual([...older, ...newer]);
    expect(joinPages([], newer, "older")).toEqual(newer);
  });
});

describe("turns that were said here", () => {
  test("learn under which ids they are stored, from the newest back", () => {
    const ours = [newTurn("一", [], TIME), newTurn("二", [], TIME)];
    const theirs = buildTurns([message(1, "user", "一"), message(2, "assistant", "1"), message(3, "user", "二")]);
    const merged = mergeStored(ours, theirs);
    expect(merged.map((turn) => turn.asked?.id)).toEqual([1, 3]);
    expect(merged.map((turn) => turn.id)).toEqual(ours.map((turn) => turn.id));
  });

  test("that the server never took are passed over", () => {
    const ours = [newTurn("一", [], TIME), newTurn("refused", [], TIME)];
    const merged = mergeStored(ours, buildTurns([message(1, "user", "一")]));
    expect(merged.map((turn) => turn.asked?.id)).toEqual([1, undefined]);
  });

  test("are not mistaken for those of another version", () => {
    const [known] = buildTurns([message(1, "user", "一")]);
    const merged = mergeStored([known!], buildTurns([message(9, "user", "一, differently")]));
    expect(merged).toEqual([known]);
  });

  test("that another tab answered get that answer", () => {
    const ours = buildTurns([message(1, "user", "一", { status: "answering" })]);
    const [merged] = mergeStored(ours, buildTurns([message(1, "user", "一"), message(2, "assistant", "好")]));
    expect([merged!.state, getAnswer(merged!), merged!.id]).toEqual(["done", "好", ours[0]!.id]);
  });
});
