/** Server-sent events read from a response: EventSource can neither send a token nor post. */

export interface ServerSentEvent {
  name: string;
  data: unknown;
}

/** Read events as they come; `onAlive` is called for whatever arrives, if only a comment. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onAlive?: () => void,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onAlive?.();
      const { blocks, unfinished } = splitBlocks(rest + value);
      rest = unfinished;
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Split what has arrived into whole blocks, and the beginning of the next one. */
function splitBlocks(text: string): { blocks: string[]; unfinished: string } {
  // A carriage return at the very end may be half of a line ending whose other half is on its way.
  const end = text.endsWith("\r") ? text.length - 1 : text.length;
  const blocks = text.slice(0, end).replace(/\r\n?/g, "\n").split("\n\n");
  return { unfinished: (blocks.pop() ?? "") + text.slice(end), blocks };
}

/** Read one block; a comment is no event. */
function parseBlock(block: string): ServerSentEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
