/** The memory: its facts, its file, its days, and what was learned. */

import { Suspense, useEffect } from "react";
import { api } from "../api";
import { useWords } from "../i18n";
import { LoadingView, lazyView } from "../lazyViews";
import { buildAddress, go, useRoute } from "../route";
import { useServerEvent } from "../serverEvents";
import { PageHead, Tabs } from "../ui";
import { useLoaded } from "../useLoaded";
import { FactsView } from "./facts/FactsView";
import { useUnsaved } from "./file/unsavedFile";
import { LearningSwitch } from "./LearningSwitch";
import { LearnedView } from "./learned/LearnedView";
import "./memory.css";

const FileView = lazyView("memory file", () => import("./file/FileView"));
const DailyView = lazyView("daily notes", () => import("./daily/DailyView"));

const ImportView = lazyView("import", () => import("./import/ImportView"));

const VIEWS = ["facts", "file", "daily", "learned", "import"] as const;
type View = (typeof VIEWS)[number];

export default function MemoryPage() {
  const words = useWords().memory;
  const { parts } = useRoute();
  const isUnsaved = useUnsaved();
  const pending = useLoaded((signal) => api.getPending(signal), []);
  const view: View = VIEWS.find((name) => name === parts[0]) ?? "facts";
  useServerEvent("pending", pending.reload);
  useServerEvent("hello", pending.reload);

  useEffect(() => {
    document.title = `${isUnsaved ? "● " : ""}${words.title} · Turnleaf`;
  }, [isUnsaved, words.title]);

  const tabs = [
    { value: "facts" as const, label: words.tabs.facts },
    { value: "file" as const, label: words.tabs.file, mark: isUnsaved ? words.file.unsaved : undefined },
    { value: "daily" as const, label: words.tabs.daily },
    { value: "learned" as const, label: words.tabs.learned, count: pending.value?.pending.length },
    { value: "import" as const, label: words.tabs.import },
  ];
  return (
    <div className="page memory">
      <PageHead title={words.title} actions={<LearningSwitch />}>
        <p>{words.lead}</p>
      </PageHead>
      <div className="memory-views">
        <Tabs label={words.views} tabs={tabs} value={view} onChange={(next) => go(getViewAddress(next))}>
          <Suspense fallback={<LoadingView lines={6} />}>
            {view === "facts" && <FactsView />}
            {view === "file" && <FileView />}
            {view === "daily" && <DailyView />}
            {view === "learned" && <LearnedView pending={pending} />}
            {view === "import" && <ImportView />}
          </Suspense>
        </Tabs>
      </div>
    </div>
  );
}

function getViewAddress(view: View): string {
  return view === "facts" ? buildAddress("memory") : buildAddress("memory", view);
}
