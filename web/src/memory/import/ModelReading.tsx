import { type FormEvent, useState } from "react";
import { api } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { buildAddress } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { Button, Field, Input, LinkButton, Meter, Notice, ProblemNotice, ServerMessage } from "../../ui";
import { useLoaded } from "../../useLoaded";

/** A model that looks for facts in what was imported: what that takes, and how far it is. */
export function ModelReading() {
  const words = useWords().memory.importing;
  const own = words.byModel;
  const format = useFormat();
  const loaded = useLoaded((signal) => api.getReading(signal), []);
  const [most, setMost] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  useServerEvent("reading", loaded.reload);
  useServerEvent("hello", loaded.reload);

  const now = loaded.value;
  if (!now?.model || (!now.calls && now.state === "idle")) return null;
  const isRunning = now.state === "running";
  const act = async (ask: () => Promise<unknown>) => {
    setProblem(null);
    try {
      await ask();
    } catch (error) {
      setProblem(error);
    }
    loaded.reload();
  };
  const start = (event: FormEvent) => {
    event.preventDefault();
    void act(() => api.startReading(Number(most ?? now.calls)));
  };
  const number = format.number;
  return (
    <section className="card import-card" aria-labelledby="reading-title">
      <h3 id="reading-title">{own.title}</h3>
      {problem !== null && <ProblemNotice problem={problem} />}
      {now.problem && <Notice tone="danger"><ServerMessage text={now.problem} /></Notice>}
      {isRunning ? (
        <>
          <Meter
            isProgress
            label={own.running(now.model)}
            value={now.made}
            max={now.mostCalls}
            words={own.made(number(now.made), number(now.mostCalls), number(now.found))}
          />
          <div className="import-actions">
            <Button icon="stop" onClick={() => void act(api.stopReading)}>
              {own.stop}
            </Button>
          </div>
        </>
      ) : (
        <>
          {(now.state === "done" || now.state === "stopped") && <p role="status">{own.done(number(now.found))}</p>}
          {now.found > 0 && (
            <div className="import-actions">
              <LinkButton tone="primary" icon="spark" href={buildAddress("memory", "learned")}>
                {words.review}
              </LinkButton>
            </div>
          )}
          {now.calls > 0 && (
            <form className="reading-form" onSubmit={start}>
              <p>{own.plan(now.model, number(now.conversations), number(now.calls), number(now.tokens))}</p>
              <Field label={own.most}>
                {(ids) => (
                  <Input
                    {...ids}
                    type="number"
                    min={1}
                    max={now.calls}
                    required
                    value={most ?? String(now.calls)}
                    onChange={(event) => setMost(event.target.value)}
                  />
                )}
              </Field>
              <Button type="submit" icon="spark">
                {own.start}
              </Button>
            </form>
          )}
        </>
      )}
    </section>
  );
}
