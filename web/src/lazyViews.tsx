/** Views whose code is fetched when they are first opened, also from a server that was away. */

import { type ComponentType, lazy, useEffect, useRef, useState } from "react";
import { Broken } from "./Boundary";
import { useWords } from "./i18n";
import { useConnection, useServerEvent, waitUntilBack } from "./serverEvents";
import { Button, EmptyState, Skeleton } from "./ui";
import { hasUnsaved } from "./unsavedChanges";

const RELOADED_FOR = "turnleaf.reloadedFor";

/**
 * Make a view of what `load` imports. It is not imported while the server is away: a browser never
 * asks again for a module that did not come, until the page is loaded again.
 */
export function lazyView<Props extends object>(name: string, load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(async () => {
    await waitUntilBack();
    try {
      const loaded = await load();
      forgetReload(name);
      return loaded;
    } catch {
      return { default: () => <NotLoaded name={name} /> };
    }
  });
}

/** Stands where a view will be. */
export function LoadingView({ lines }: { lines: number }) {
  const words = useWords();
  const isAway = useConnection() === "away";
  return (
    <>
      {isAway && <p role="status">{words.connection.away}</p>}
      <Skeleton lines={lines} />
    </>
  );
}

/** Loads the page again once the server answers, but never if something would be lost. */
function NotLoaded({ name }: { name: string }) {
  const words = useWords().errors;
  const [state, setState] = useState<"waiting" | "unsaved" | "broken">("waiting");
  const isTrying = useRef(false);
  const attempt = async () => {
    if (isTrying.current) return;
    isTrying.current = true;
    if (hasUnsaved()) setState("unsaved");
    else if ((await isServed()) && !reloadOnce(name)) setState("broken");
    isTrying.current = false;
  };
  useEffect(() => void attempt(), []);
  useServerEvent("hello", () => void attempt());

  if (state === "broken") return <Broken />;
  const reload = (
    <Button tone="primary" icon="refresh" onClick={() => location.reload()}>
      {words.reload}
    </Button>
  );
  return (
    <EmptyState icon="alert" title={words.missingTitle} actions={state === "unsaved" && reload}>
      <p>{state === "unsaved" ? words.missingUnsaved : words.missingText}</p>
    </EmptyState>
  );
}

/** Whether the page could be loaded now. */
async function isServed(): Promise<boolean> {
  try {
    return (await fetch("./", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Load the page again for a view; false if that was done before and did not help. */
function reloadOnce(name: string): boolean {
  try {
    if (sessionStorage.getItem(RELOADED_FOR) === name) return false;
    sessionStorage.setItem(RELOADED_FOR, name);
  } catch {
    return false;
  }
  location.reload();
  return true;
}

function forgetReload(name: string): void {
  try {
    if (sessionStorage.getItem(RELOADED_FOR) === name) sessionStorage.removeItem(RELOADED_FOR);
  } catch {
    // Without storage the page is never loaded again by itself.
  }
}
