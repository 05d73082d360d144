import { useState } from "react";
import { api, type Change } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { useServerEvent } from "../../serverEvents";
import { Badge, Button, EmptyState, ProblemNotice, Skeleton, useToasts } from "../../ui";
import { useLoaded } from "../../useLoaded";
import { Provenance } from "./Provenance";
import { buildTimeline, findKind } from "./timeline";

const PAGE = 30;
const MOST = 500;

/** What was learned from conversations, the newest first, each with the words that it rests on. */
export function RecentlyLearned() {
  const words = useWords();
  const own = words.memory.learned;
  const format = useFormat();
  const [limit, setLimit] = useState(PAGE);
  const loaded = useLoaded((signal) => api.getChanges({ learnt: true, limit }, signal), [limit]);
  const learning = useLoaded((signal) => api.getConfig(signal), []);
  for (const event of ["memory", "learnt", "hello"] as const) useServerEvent(event, loaded.reload);
  useServerEvent("settings", learning.reload);

  const changes = loaded.value?.changes ?? [];
  const names = { week: own.timeline.week, lastWeek: own.timeline.lastWeek };
  const parts = buildTimeline(changes, new Date(), words.memory.daily.weekStart);
  const isOff = learning.value?.autoExtract === false;
  return (
    <section aria-labelledby="recent">
      <header className="learned-head">
        <h2 id="recent">{own.recentTitle}</h2>
        <p>{own.recentText}</p>
      </header>
      {loaded.problem && <ProblemNotice problem={loaded.problem} onRetry={loaded.reload} />}
      {!loaded.value && !loaded.problem && <Skeleton lines={6} />}
      {loaded.value && !changes.length && (
        <EmptyState icon="spark" title={own.emptyTitle}>
          <p>{isOff ? own.emptyOff : own.emptyText}</p>
        </EmptyState>
      )}
      {parts.map((part) => (
        <div key={part.period} className="timeline-part">
          <h3>
            {names[part.period as keyof typeof names] ?? format.month(part.period)}
            <span>{own.timeline.counts(part.added, part.updated, part.removed)}</span>
          </h3>
          <ol role="list" className="card learnings" aria-label={own.recentTitle}>
            {part.changes.map((change) => (
              <LearnedChange key={change.n} change={change} onUndone={loaded.reload} />
            ))}
          </ol>
        </div>
      ))}
      {loaded.value?.more && limit < MOST && (
        <Button
          className="learned-older"
          busy={loaded.isLoading}
          onClick={() => setLimit(Math.min(limit + PAGE, MOST))}
        >
          {own.older}
        </Button>
      )}
    </section>
  );
}

function LearnedChange({ change, onUndone }: { change: Change; onUndone: () => void }) {
  const words = useWords();
  const own = words.memory.learned;
  const toasts = useToasts();
  const [isUndoing, setUndoing] = useState(false);
  const undo = async () => {
    setUndoing(true);
    try {
      await api.undo(change.n);
      toasts.show({ text: words.common.undone });
      onUndone();
    } catch (problem) {
      toasts.fail(problem);
    } finally {
      setUndoing(false);
    }
  };
  const kind = own[findKind(change)];
  return (
    <li className={`learning-row${change.undone ? " is-undone" : ""}`}>
      <div className="learning-what">
        <p className="fact-text">
          <Badge tone={change.undone ? undefined : "accent"}>{kind}</Badge> {(change.after ?? change.before)?.content}
        </p>
        {change.before && change.after && change.before.content !== change.after.content && (
          <p className="learning-before">
            {own.before}
            <del>{change.before.content}</del>
          </p>
        )}
        <Provenance of={change} time={change.time} />
      </div>
      {change.undone ? (
        <Badge>{own.undone}</Badge>
      ) : (
        change.undoable && (
          <Button small tone="quiet" icon="undo" busy={isUndoing} onClick={() => void undo()}>
            {words.common.undo}
          </Button>
        )
      )}
    </li>
  );
}
