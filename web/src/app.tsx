/** The shell: where one can go, and what is shown there. */

import { type ComponentType, Suspense, useEffect, useRef } from "react";
import { api } from "./api";
import { Boundary } from "./Boundary";
import { connect, useConnection, useServerEvent } from "./events";
import { useWords } from "./i18n";
import { Login } from "./Login";
import { useLoaded } from "./loading";
import { News } from "./News";
import { LanguageChoice, ThemeChoice } from "./Preferences";
import { go, to, useRoute } from "./route";
import { useNeedsLogin } from "./token";
import { Icon, type IconName, Logo, ToastProvider } from "./ui";
import { Coming, lazyView } from "./views";

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
    if (!page) go(to("chat"), { replace: true });
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
      <News showsLearnt={page !== "chat"} />
      <Side current={page ?? "chat"} />
      <main ref={main} className="main" id="main" tabIndex={-1} key={page}>
        <Boundary>
          <Suspense fallback={<ComingPage />}>
            <View />
          </Suspense>
        </Boundary>
      </main>
    </div>
  );
}

function Side({ current }: { current: Page }) {
  const words = useWords();
  const connection = useConnection();
  const waiting = useWaiting();
  return (
    <header className="side">
      <a className="brand" href={to("chat")}>
        <Logo /> Turnleaf
      </a>
      <nav className="nav" aria-label={words.nav.label}>
        {NAMES.map((name) => (
          <a key={name} href={to(name)} aria-current={name === current ? "page" : undefined}>
            <Icon name={PAGES[name].icon} />
            {words.nav[name]}
            {name === "memory" && waiting > 0 && (
              <span className="badge badge-accent count" title={words.nav.waiting(waiting)}>
                {waiting}
                <span className="visually-hidden">{words.nav.waiting(waiting)}</span>
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

/** How many facts wait for acceptance. */
function useWaiting(): number {
  const { value, set, reload } = useLoaded(async (signal) => (await api.pending(signal)).pending.length, []);
  useServerEvent("pending", ({ count }) => set(count));
  useServerEvent("hello", reload);
  return value ?? 0;
}

function ComingPage() {
  return (
    <div className="page">
      <Coming lines={4} />
    </div>
  );
}
