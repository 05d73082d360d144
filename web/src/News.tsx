import { api, type LearntLater } from "./api";
import { useServerEvent } from "./events";
import { useWords } from "./i18n";
import { ToldText, useToasts } from "./ui";

/** Tells what happened meanwhile: what was learnt, where nothing else shows that, and what failed. */
export function News({ showsLearnt }: { showsLearnt: boolean }) {
  const { news } = useWords();
  const { show } = useToasts();

  const tell = ({ action, fact, change }: LearntLater) => {
    if (action === "waiting") show({ text: news.waits(fact.content) });
    else show({ text: news.learnt(fact.content), undo: change === null ? undefined : () => api.undo(change) });
  };
  useServerEvent("learnt", ({ facts }) => {
    if (showsLearnt) facts.forEach(tell);
  });
  useServerEvent("problem", ({ message }) => show({ text: <ToldText {...news.problem(message)} />, tone: "danger" }));
  return null;
}
