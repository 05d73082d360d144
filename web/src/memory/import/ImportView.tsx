/** Bringing what was told to another assistant: choose a file, see what is in it, import it. */

import { type DragEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type Import, isAborted } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { buildAddress } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { Button, Icon, LinkButton, Meter, Notice, ProblemNotice, ServerMessage, Skeleton } from "../../ui";
import { type LoadedValue, useLoaded } from "../../useLoaded";
import { ModelReading } from "./ModelReading";
import { findStep, isNothingNew, listFound } from "./importReport";
import "./import.css";

interface Sending {
  name: string;
  sent: number;
  size: number;
  stop: () => void;
}

export default function ImportView() {
  const words = useWords().memory.importing;
  const latest = useLoaded((signal) => api.getImport(signal), []);
  const [sending, setSending] = useState<Sending | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isChoosing, setChoosing] = useState(false);
  const [hasActed, setActed] = useState(false);
  useServerEvent("hello", latest.reload);
  useServerEvent("import", (told) => {
    const now = latest.value?.latest;
    const isGoingOn = told.state === "running" && now?.id === told.id && now.state === "running";
    if (isGoingOn) latest.set({ latest: { ...now, done: told.done, total: told.total } });
    else latest.reload();
  });

  const send = async (file: File) => {
    const stop = new AbortController();
    const told = { name: file.name, size: file.size, stop: () => stop.abort() };
    setSending({ ...told, sent: 0 });
    setProblem(null);
    setChoosing(false);
    setActed(true);
    try {
      const begun = await api.countImport(file, (sent) => setSending({ ...told, sent }), stop.signal);
      latest.set({ latest: begun });
      latest.reload(); // it may have been counted before the answer came
    } catch (error) {
      if (!isAborted(error)) setProblem(error);
      latest.reload();
    } finally {
      setSending(null);
    }
  };
  const act = async (ask: () => Promise<unknown>) => {
    setProblem(null);
    setActed(true);
    try {
      await ask();
    } catch (error) {
      setProblem(error);
    }
    latest.reload();
  };

  const now = latest.value?.latest ?? null;
  const step = isChoosing ? "choose" : findStep(now);
  return (
    <section className="import" aria-labelledby="import-title">
      <header>
        <h2 id="import-title">{words.title}</h2>
        <p>{words.text}</p>
      </header>
      {latest.problem && <ProblemNotice problem={latest.problem} onRetry={latest.reload} />}
      {problem !== null && <ProblemNotice problem={problem} />}
      {!latest.value && !sending && !latest.problem && <Skeleton lines={5} />}
      {sending ? (
        <RunningImport label={words.sending(sending.name)} done={sending.sent} all={sending.size} onStop={sending.stop} />
      ) : (
        <>
          {latest.value && step === "choose" && <FileChoice onFile={(file) => void send(file)} />}
          {now && (step === "read" || step === "import") && (
            <RunningImport
              label={(step === "read" ? words.reading : words.importing)(now.name)}
              done={now.done}
              all={now.total}
              onStop={() => void act(() => api.stopImport(now.id))}
            />
          )}
          {now && !isChoosing && <ImportOutcome of={now} isNews={hasActed} act={act} onAnother={() => setChoosing(true)} />}
          {latest.value && step !== "read" && step !== "import" && step !== "found" && <ModelReading key={now?.id} />}
        </>
      )}
    </section>
  );
}

function FileChoice({ onFile }: { onFile: (file: File) => void }) {
  const words = useWords().memory.importing;
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  };
  return (
    <div
      className={`import-drop${isOver ? " is-over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="history" />
      <p className="import-call">{words.drop}</p>
      <input
        ref={input}
        type="file"
        hidden
        accept=".zip,.json,.jsonl,.txt,.md"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
        }}
      />
      <Button tone="primary" icon="plus" onClick={() => input.current?.click()}>
        {words.choose}
      </Button>
      <p className="import-kinds">{words.kinds}</p>
      <p className="import-kinds">{words.first}</p>
    </div>
  );
}

interface RunningImportProps {
  label: string;
  done: number;
  all: number;
  onStop: () => void;
}

function RunningImport({ label, done, all, onStop }: RunningImportProps) {
  const words = useWords().memory.importing;
  const format = useFormat();
  const told = all ? words.of(format.bytes(Math.min(done, all)), format.bytes(all)) : "\u00a0";
  return (
    <div className="card import-card">
      <Meter isProgress label={label} value={done} max={Math.max(all, 1)} words={told} />
      <div className="import-actions">
        <Button icon="stop" onClick={onStop}>
          {words.stop}
        </Button>
      </div>
    </div>
  );
}

interface ImportOutcomeProps {
  of: Import;
  /** Somebody waited for it here, so that the focus goes to it. */
  isNews: boolean;
  act: (ask: () => Promise<unknown>) => Promise<void>;
  onAnother: () => void;
}

/** What was found or what came in, and what can be done next. */
function ImportOutcome({ of, isNews, act, onAnother }: ImportOutcomeProps) {
  const words = useWords().memory.importing;
  const step = findStep(of);
  if (step === "found") return <FoundImport of={of} isNews={isNews} act={act} />;
  if (step === "done") return <FinishedImport of={of} isNews={isNews} onAnother={onAnother} />;
  if (step !== "stopped" && step !== "failed") return null;
  return (
    <ImportCard title={(step === "failed" ? words.failedTitle : words.stoppedTitle)(of.name)} isNews={isNews}>
      {step === "failed" ? <Notice tone="danger">{of.problem && <ServerMessage text={of.problem} />}</Notice> : <p>{words.stoppedText}</p>}
      <div className="import-actions">
        <Button icon="plus" onClick={onAnother}>
          {words.another}
        </Button>
      </div>
    </ImportCard>
  );
}

function FoundImport({ of, isNews, act }: Omit<ImportOutcomeProps, "onAnother">) {
  const words = useWords().memory.importing;
  return (
    <ImportCard title={words.foundTitle(of.name)} isNews={isNews}>
      {isNothingNew(of.imported) && <p>{words.nothingNew}</p>}
      <ReportLines of={of} />
      <div className="import-actions">
        <Button tone="primary" icon="check" onClick={() => void act(() => api.startImport(of.id))}>
          {words.start}
        </Button>
        <Button onClick={() => void act(() => api.stopImport(of.id))}>{words.discard}</Button>
      </div>
    </ImportCard>
  );
}

function FinishedImport({ of, isNews, onAnother }: Omit<ImportOutcomeProps, "act">) {
  const words = useWords().memory.importing;
  return (
    <ImportCard title={words.doneTitle(of.name)} isNews={isNews}>
      <ReportLines of={of} />
      <p>{words.searchable}</p>
      <MeaningProgress />
      <div className="import-actions">
        {of.imported.toReview > 0 && (
          <LinkButton tone="primary" icon="spark" href={buildAddress("memory", "learned")}>
            {words.review}
          </LinkButton>
        )}
        {of.imported.memories > 0 && (
          <LinkButton icon="leaf" href={buildAddress("memory")}>
            {words.toFacts}
          </LinkButton>
        )}
        {of.imported.conversations > 0 && (
          <LinkButton icon="chat" href={buildAddress("chat")}>
            {words.toChats}
          </LinkButton>
        )}
        <Button icon="plus" onClick={onAnother}>
          {words.another}
        </Button>
      </div>
    </ImportCard>
  );
}

function ImportCard({ title, isNews, children }: { title: string; isNews: boolean; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isNews) heading.current?.focus();
  }, [title]);
  return (
    <div className="card import-card">
      <h3 ref={heading} tabIndex={-1}>
        {title}
      </h3>
      {children}
    </div>
  );
}

function ReportLines({ of: { imported } }: { of: Import }) {
  const words = useWords().memory.importing;
  const format = useFormat();
  return (
    <>
      <ul className="import-lines">
        {listFound(imported, words, format).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {imported.problems.map((problem) => (
        <Notice key={problem} tone="warn">
          <ServerMessage text={problem} />
        </Notice>
      ))}
      {imported.leftOut.length > 0 && (
        <details className="import-left-out">
          <summary>{words.leftOut}</summary>
          <ul>
            {imported.leftOut.map(({ what, count }) => (
              <li key={what}>{words.leftOutOne(format.number(count), what)}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** How much of what is stored can be searched by meaning already. */
function MeaningProgress() {
  const words = useWords().memory.importing;
  const format = useFormat();
  const progress: LoadedValue<{ done: number; total: number }> = useLoaded(
    async (signal) => (await api.getStatus(signal)).index,
    [],
  );
  useServerEvent("index", progress.set);
  const { done = 0, total = 0 } = progress.value ?? {};
  if (done >= total) return null;
  const told = words.meaningOf(format.number(done), format.number(total));
  return <Meter isProgress label={words.meaning} value={done} max={total} words={told} />;
}
