/** The shell: where one can go, and what is shown there. */

import { type ComponentType, Suspense, useEffect, useRef } from "react";
import { api } from "./api";
import { Boundary } from "./Boundary";
import { useWords } from "./i18n";
import { Login } from "./Login";
import { LoadingView, lazyView } from "./lazyViews";
import { News } from "./News";
import { LanguageChoice, ThemeChoice } from "./Preferences";
import { buildAddress, go, useRoute } from "./route";
import { connect, useConnection, useServerEvent } from "./serverEvents";
import { useNeedsLogin } from "./token";
import { Icon, type IconName, Logo, ToastProvider } from "./ui";
import { useLoaded } from "./useLoaded";

type Page = "chat" | "memory" | "schedules" | "status" | "settings";

const PAGES: Record<Page, { icon: IconName; View: ComponentType }> = {
  chat: { icon: "chat", View: lazyView("chat", () => import("./chat/ChatPage")) },
  memory: { icon: "leaf", View: lazyView("memory", () => import("./memory/MemoryPage")) },
  schedules: { icon: "clock", View: lazyView("schedules", () => import("./schedules/SchedulesPage")) },
  status: { icon: "pulse", View: lazyView("status", () => import("./status/StatusPage")) },
  settings: { icon: "settings", View: lazyView("settings", () => import("./settings/SettingsPage")) },
};
const NAMES = Object.keys(PAGES) as Page[];

/** The whole page. */
export function App() {
  return <ToastProvider>{useNeedsLogin() ? <Login /> : <Shell />}</ToastProvider>;
}

function Shell() {
  const words = useWords();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const page = NAMES.find((name) => name === route.page);

  useEffect(connect, []);
  useEffect(() => {
    if (!page) go(buildAddress("chat"), { replace: true });
  }, [page]);

  const View = PAGES[page ?? "chat"].View;
  return (
    <div className="shell">
      <a
        className="button skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {words.nav.skip}
      </a>
      <News showsLearned={page !== "chat"} />
      <Sidebar current={page ?? "chat"} />
      <main ref={main} className="main" id="main" tabIndex={-1} key={page}>
        <Boundary>
          <Suspense fallback={<LoadingPage />}>
            <View />
          </Suspense>
        </Boundary>
      </main>
    </div>
  );
}

function Sidebar({ current }: { current: Page }) {
  const words = useWords();
  const connection = useConnection();
  const pending = usePendingCount();
  return (
    <header className="side">
      <a className="brand" href={buildAddress("chat")}>
        <Logo /> Turnleaf
      </a>
      <nav className="nav" aria-label={words.nav.label}>
        {NAMES.map((name) => (
          <a key={name} href={buildAddress(name)} aria-current={name === current ? "page" : undefined}>
            <Icon name={PAGES[name].icon} />
            {words.nav[name]}
            {name === "memory" && pending > 0 && (
              <span className="badge badge-accent count" title={words.nav.pending(pending)}>
                {pending}
                <span className="visually-hidden">{words.nav.pending(pending)}</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div className="side-foot">
        <div className="side-switches">
          <ThemeChoice iconsOnly />
          <LanguageChoice short />
        </div>
        <p className={`connection connection-${connection}`} role="status">
          {words.connection[connection]}
        </p>
      </div>
    </header>
  );
}

/** Count the facts that are pending review. */
function usePendingCount(): number {
  const { value, set, reload } = useLoaded(async (signal) => (await api.getPending(signal)).pending.length, []);
  useServerEvent("pending", ({ count }) => set(count));
  useServerEvent("hello", reload);
  return value ?? 0;
}

function LoadingPage() {
  return (
    <div className="page">
      <LoadingView lines={4} />
    </div>
  );
}
