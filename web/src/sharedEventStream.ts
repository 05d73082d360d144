/**
 * One line for all tabs of this browser, which opens no more than six to a server: the tab that
 * holds the lock listens, and tells the others.
 */

import { isAborted } from "./api";
import { isSeen, listen, listenWhileSeen, makeInner, SilenceTimer, type StreamNews, type TellNews } from "./eventStream";

type TabMessage = StreamNews | { kind: "asked" };

/** Tell what the tab that listens hears, until stopped; where tabs cannot agree on one, each listens. */
export async function listenTogether(signal: AbortSignal, tell: TellNews, now: () => StreamNews): Promise<void> {
  if (!("locks" in navigator) || !("BroadcastChannel" in globalThis)) return listenWhileSeen(signal, tell);
  const tab = new ListeningTab(signal, tell, now);
  try {
    while (!signal.aborted) await tab.takeItsTurn();
  } catch {
    await listenWhileSeen(signal, tell);
  } finally {
    tab.close();
  }
}

class ListeningTab {
  private readonly name = `turnleaf events ${new URL(document.baseURI).pathname}`;
  private readonly channel = new BroadcastChannel(this.name);
  private readonly silence = new SilenceTimer(() => this.takeOver());
  private turn: AbortController;
  private isListening = false;
  private isTakingOver = false;

  constructor(
    private readonly signal: AbortSignal,
    private readonly tell: TellNews,
    private readonly now: () => StreamNews,
  ) {
    this.turn = makeInner(signal);
    this.channel.onmessage = ({ data }: MessageEvent<TabMessage>) => this.hear(data);
    this.say({ kind: "asked" });
  }

  /** Wait for the lock, and listen for as long as it is this tab's. */
  async takeItsTurn(): Promise<void> {
    const { signal } = this.turn;
    const how = this.isTakingOver ? { steal: true } : { signal };
    this.isTakingOver = false;
    const begin = () => {
      this.isListening = true;
      return listen(signal, (told) => {
        this.say(told);
        this.tell(told);
      });
    };
    try {
      await navigator.locks.request(this.name, how, begin);
    } catch (error) {
      if (!isAborted(error)) throw error; // else another tab took over, or this one is about to
    } finally {
      this.isListening = false;
      this.turn.abort();
      this.turn = makeInner(this.signal);
    }
  }

  /** The tab that should listen may have been put to sleep by the browser. */
  private takeOver(): void {
    this.silence.end();
    if (this.isListening || !isSeen()) return;
    this.isTakingOver = true;
    this.turn.abort();
  }

  private hear(said: TabMessage): void {
    this.silence.end();
    if (said.kind !== "asked") this.tell(said);
    else if (this.isListening) this.say(this.now());
  }

  private say(said: TabMessage): void {
    this.channel.postMessage(said);
  }

  close(): void {
    this.silence.stop();
    this.channel.close();
  }
}
