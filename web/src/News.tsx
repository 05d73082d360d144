import { api, type LearnedLater } from "./api";
import { useWords } from "./i18n";
import { useServerEvent } from "./serverEvents";
import { rewriteMessage } from "./problems";
import { ExplanationText, useToasts } from "./ui";

/** Tells what happened meanwhile: what was learned, where nothing else shows that, and what failed. */
export function News({ showsLearned }: { showsLearned: boolean }) {
  const { errors, news } = useWords();
  const { show } = useToasts();

  const tell = ({ action, fact, change }: LearnedLater) => {
    if (action === "waiting") show({ text: news.pending(fact.content) });
    else show({ text: news.learned(fact.content), undo: change === null ? undefined : () => api.undo(change) });
  };
  useServerEvent("learnt", ({ facts }) => {
    if (showsLearned) facts.forEach(tell);
  });
  useServerEvent("problem", ({ message }) =>
    show({ text: <ExplanationText text={news.problem} detail={rewriteMessage(message, errors)} />, tone: "danger" }),
  );
  return null;
}
