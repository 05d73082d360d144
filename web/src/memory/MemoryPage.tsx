/** The memory: its facts, its file, its days, and what was learnt. */

import { Suspense, useEffect } from "react";
import { api } from "../api";
import { useServerEvent } from "../events";
import { useWords } from "../i18n";
import { useLoaded } from "../loading";
import { go, to, useRoute } from "../route";
import { PageHead, Tabs } from "../ui";
import { Coming, lazyView } from "../views";
import { FactsView } from "./facts/FactsView";
import { useUnsaved } from "./file/draft";
import { LearningSwitch } from "./LearningSwitch";
import { LearntView } from "./learnt/LearntView";
import "./memory.css";

const FileView = lazyView("memory file", () => import("./file/FileView"));
const DailyView = lazyView("daily notes", () => import("./daily/DailyView"));

const VIEWS = ["facts", "file", "daily", "learnt"] as const;
type View = (typeof VIEWS)[number];

export default function MemoryPage() {
  const words = useWords().memory;
  const { parts } = useRoute();
  const isUnsaved = useUnsaved();
  const pending = useLoaded((signal) => api.pending(signal), []);
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
    { value: "learnt" as const, label: words.tabs.learnt, count: pending.value?.pending.length },
  ];
  return (
    <div className="page memory">
      <PageHead title={words.title} actions={<LearningSwitch />}>
        <p>{words.lead}</p>
      </PageHead>
      <div className="memory-views">
        <Tabs label={words.views} tabs={tabs} value={view} onChange={(next) => go(addressOf(next))}>
          <Suspense fallback={<Coming lines={6} />}>
            {view === "facts" && <FactsView />}
            {view === "file" && <FileView />}
            {view === "daily" && <DailyView />}
            {view === "learnt" && <LearntView pending={pending} />}
          </Suspense>
        </Tabs>
      </div>
    </div>
  );
}

function addressOf(view: View): string {
  return view === "facts" ? to("memory") : to("memory", view);
}
