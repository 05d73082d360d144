import { describe, expect, test } from "vitest";
import { readServerSentEvents } from "../src/serverSentEvents";

const encoder = new TextEncoder();

function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}

async function read(...chunks: (string | Uint8Array)[]) {
  const events = [];
  for await (const event of readServerSentEvents(streamOf(...chunks))) events.push(event);
  return events;
}

const HELLO = [{ name: "text", data: { text: "小明" } }];

describe("events of a stream", () => {
  test("have their name and their data", async () => {
    expect(await read('event: text\ndata: {"text": "小明"}\n\n')).toEqual(HELLO);
  });

  test("come in their order, several at once", async () => {
    expect(await read("data: 1\n\ndata: 2\n\n")).toEqual([
      { name: "message", data: 1 },
      { name: "message", data: 2 },
    ]);
  });

  test("may be cut anywhere, even inside a character", async () => {
    const bytes = encoder.encode('event: text\r\ndata: {"text": "小明"}\r\n\r\n');
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await read(bytes.slice(0, at), bytes.slice(at)), `cut at ${at}`).toEqual(HELLO);
    }
  });

  test.each(["\n", "\r\n", "\r"])("end their lines with %j", async (end) => {
    expect(await read(["event: text", 'data: {"text":', 'data: "小明"}', "", ""].join(end), "data: 1\n\n")).toEqual([
      ...HELLO,
      { name: "message", data: 1 },
    ]);
  });

  test("are not comments, which still show that the server is alive", async () => {
    let heard = 0;
    const events = [];
    for await (const event of readServerSentEvents(streamOf(": still here\n\n"), () => (heard += 1))) events.push(event);
    expect(events).toEqual([]);
    expect(heard).toBe(1);
  });

  test("that break off are not events", async () => {
    expect(await read("data: 1\n\nevent: text\ndata: 2\n")).toEqual([{ name: "message", data: 1 }]);
  });

  test("that are no JSON are an error", async () => {
    await expect(read("data: {half\n\n")).rejects.toThrow(SyntaxError);
  });

  test("are no longer read when nobody asks for more", async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(encoder.encode("data: 1\n\n")),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const _ of readServerSentEvents(endless)) break;
    expect(isCancelled).toBe(true);
  });
});
