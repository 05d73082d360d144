import { type ReactNode, useEffect, useId, useState } from "react";
import { api, type KeptConversations, type ModelsView, resolveAddress, type Status } from "../api";
import { capitalise } from "../format";
import { useI18n } from "../i18n";
import { describeModel } from "../models/ModelState";
import { findLack, NO_MODEL } from "../models/modelChoices";
import { OutcomeText } from "../models/OutcomeText";
import { useConfirmation } from "../models/useConfirmation";
import { type Models, useModels } from "../models/useModels";
import { useTrial } from "../models/useTrial";
import { rewriteMessage } from "../problems";
import { buildAddress } from "../route";
import { useConnection, useServerEvent } from "../serverEvents";
import { Button, Icon, Meter, Notice, PageHead, ProblemNotice, Skeleton } from "../ui";
import { useLoaded } from "../useLoaded";
import { rephrase, splitWhy, writeDays, writeMoments } from "./phrases";
import "./status.css";

const PARTS = ["learning", "search", "embeddings", "tokens"];
/** Is called by a name, which is written as it is, if there is any. */
const NAMED = "embeddings";
const NAMELESS = ["off", "none"];

/** How everything is, as `turnleaf doctor` sees it, and live. */
export default function StatusPage() {
  const { words } = useI18n();
  const { value, problem, isLoading, reload } = useLoaded((signal) => api.getStatus(signal), []);
  useServerEvent("hello", reload);
  useServerEvent("settings", reload);
  useServerEvent("problem", reload);
  useServerEvent("learnt", reload);
  useServerEvent("schedules", reload);

  const again = (
    <Button icon="refresh" busy={isLoading && value !== null} onClick={reload}>
      {words.status.checkAgain}
    </Button>
  );
  return (
    <div className="page status">
      <PageHead title={words.status.title} actions={again}>
        <p>{words.status.intro}</p>
      </PageHead>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {value ? <StatusSections status={value} /> : !problem && <Skeleton lines={8} />}
    </div>
  );
}

function StatusSections({ status }: { status: Status }) {
  const models = useModels();
  return (
    <>
      <Verdict status={status} models={models.view} />
      <RunningParts status={status} models={models} />
      <FileTable status={status} />
      <VersionList status={status} />
      <ForPrograms />
    </>
  );
}

/** Whether all is well, and if not, what to do. */
function Verdict({ status, models }: { status: Status; models: ModelsView | null }) {
  const { words, format } = useI18n();
  const isAway = useConnection() === "away";
  const errors = status.problems.filter(({ level }) => level === "error").length;
  const lack = !errors && models && findLack(models) ? describeModel(models, words.models) : null;
  const others = status.problems.length - errors + (lack ? 1 : 0);
  const said = errors ? words.status.bad(errors) : others ? words.status.warnings(others) : words.status.good;
  const level = errors ? "danger" : others ? "warn" : "good";
  const describe = (message: string) =>
    writeMoments(rewriteMessage(rephrase(message, words.status.phrases), words.errors), format.dateTime);
  return (
    <section className="status-verdict" aria-live="polite">
      <p className={`status-word status-${level}`}>
        <Icon name={level === "good" ? "check" : "alert"} />
        {said}
      </p>
      {isAway && <Notice tone="warn">{words.status.away}</Notice>}
      {lack && (
        <Notice tone="warn">
          <p>{lack}</p>
        </Notice>
      )}
      {status.problems.map(({ level: its, message }) => (
        <Notice key={message} tone={its === "error" ? "danger" : "warn"}>
          <p>{describe(message)}</p>
        </Notice>
      ))}
      {status.lastError && (
        <Notice tone="warn" icon="clock">
          <p>
            <strong>{words.status.lastError}</strong>
            {status.lastError.time && ` · ${format.dateTime(status.lastError.time)}`}
            {status.lastError.conversation && ` · ${words.status.inConversation(status.lastError.conversation)}`}
          </p>
          {status.lastError.message && <p>{describe(status.lastError.message)}</p>}
        </Notice>
      )}
    </section>
  );
}

function RunningParts({ status, models }: { status: Status; models: Models }) {
  const { words } = useI18n();
  return (
    <StatusSection title={words.status.atWork}>
      <div className="status-parts">
        <ModelPart models={models} />
        {PARTS.flatMap((name) => {
          const text = status.parts[name];
          return text === undefined ? [] : <StatusPart key={name} name={name} text={rephrase(text, words.status.phrases)} />;
        })}
        {status.conversations && <RetentionPart kept={status.conversations} />}
        <IndexPart status={status} />
      </div>
    </StatusSection>
  );
}

/** Which model answers, whether it can, and where words go; whoever may choose one can try it. */
function ModelPart({ models }: { models: Models }) {
  const { words } = useI18n();
  const { confirm, question } = useConfirmation();
  const trial = useTrial(models, confirm);
  const { view } = models;
  const name = view?.current.name ?? "";
  const choice = { model: name, url: null };
  const canTest = view?.operator && name !== NO_MODEL && !findLack(view);
  return (
    <div className="card status-part">
      <h3>{words.status.parts.model}</h3>
      {view ? (
        <>
          <p className="status-main">{name === NO_MODEL ? words.models.noModel : name}</p>
          {name === NO_MODEL && <p className="status-why">{words.models.none}</p>}
          {findLack(view) && <p className="status-why">{words.models.cannot}</p>}
          <p className="status-why">{view.wordsGo.local ? words.models.stay : words.models.goTo(view.wordsGo.to)}</p>
        </>
      ) : (
        <p className="status-why">{words.models.looking}</p>
      )}
      {canTest && (
        <div>
          <Button small busy={trial.underWay !== null} onClick={() => trial.test(choice)}>
            {words.models.test}
          </Button>
          <OutcomeText trial={trial} choice={choice} />
        </div>
      )}
      <a className="status-more" href={`${buildAddress("settings")}?group=model`}>
        {words.status.more.model} <Icon name="chevronRight" />
      </a>
      {question}
    </div>
  );
}

/** One part: what it is, and in smaller letters why, or what to do for more. */
function StatusPart({ name, text }: { name: string; text: string }) {
  const { words } = useI18n();
  const { main, why } = splitWhy(text);
  const more = words.status.more[name];
  return (
    <div className="card status-part">
      <h3>{words.status.parts[name]}</h3>
      <p className="status-main">{name === NAMED && !NAMELESS.includes(main) ? main : capitalise(main)}</p>
      {why && <p className="status-why">{capitalise(why)}</p>}
      {more && (
        <a className="status-more" href={`${buildAddress("settings")}?group=${name}`}>
          {more} <Icon name="chevronRight" />
        </a>
      )}
    </div>
  );
}

/** How long what was said is kept, and how much of it there is. */
function RetentionPart({ kept }: { kept: KeptConversations }) {
  const { words, format } = useI18n();
  const { messages, conversations, bytes, oldest } = kept;
  const its = words.status.conversations;
  const held = its.held(format.number(messages), format.number(conversations), format.bytes(bytes));
  const said = [held, oldest && its.oldest(format.date(oldest))].filter(Boolean);
  return (
    <div className="card status-part">
      <h3>{its.label}</h3>
      <p className="status-main">{its.kept(kept.kept)}</p>
      <p className="status-why">{messages ? said.join(words.status.comma) : its.none}</p>
      <a className="status-more" href={`${buildAddress("settings")}?group=conversations`}>
        {its.change} <Icon name="chevronRight" />
      </a>
    </div>
  );
}

/** How far the index is, as it goes on. */
function IndexPart({ status }: { status: Status }) {
  const { words, format } = useI18n();
  const [progress, setProgress] = useState(status.index);
  useEffect(() => setProgress(status.index), [status]);
  useServerEvent("index", setProgress);
  const { done, total } = progress;
  const isDone = done >= total;
  const said = isDone ? words.status.index.done : words.status.index.working(format.number(done), format.number(total));
  return (
    <div className="card status-part">
      <h3>{words.status.index.label}</h3>
      <Meter
        isProgress
        label={words.status.index.label}
        value={isDone ? 1 : done}
        max={isDone ? 1 : total}
        words={said}
      />
      <p className="status-why">{words.status.index.explanation}</p>
    </div>
  );
}

function FileTable({ status }: { status: Status }) {
  const { words, format } = useI18n();
  return (
    <StatusSection title={words.status.files}>
      <div className="card status-files" role="table" aria-label={words.status.files}>
        <div role="row" className="status-file status-file-head">
          <span role="columnheader">{words.status.file}</span>
          <span role="columnheader">{words.status.holds}</span>
          <span role="columnheader">{words.status.size}</span>
        </div>
        {status.files.map((file) => (
          <div role="row" key={file.path} className="status-file">
            <span role="cell">
              <strong>{words.status.fileNames[file.name] ?? file.name}</strong>
              <code>{file.path}</code>
            </span>
            <span role="cell">{writeDays(rephrase(file.holds, words.status.phrases), format.date)}</span>
            <span role="cell">{file.bytes === null ? "–" : format.bytes(file.bytes)}</span>
          </div>
        ))}
      </div>
    </StatusSection>
  );
}

function VersionList({ status }: { status: Status }) {
  const { words } = useI18n();
  return (
    <StatusSection title={words.status.versions}>
      <dl className="card status-list">
        <div>
          <dt>{words.status.dataFolder}</dt>
          <dd>
            <code>{status.dataFolder.path}</code>
          </dd>
        </div>
        {Object.entries(status.versions).map(([name, version]) => (
          <div key={name}>
            <dt>{words.status.versionNames[name] ?? name}</dt>
            <dd>{version}</dd>
          </div>
        ))}
      </dl>
    </StatusSection>
  );
}

function ForPrograms() {
  const { words } = useI18n();
  return (
    <StatusSection title={words.status.forPrograms}>
      <p className="status-api">
        {words.status.api} <a href={resolveAddress("docs/")}>{words.status.apiLink}</a>
      </p>
    </StatusSection>
  );
}

function StatusSection({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="status-section">
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
