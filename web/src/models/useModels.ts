import { useMemo } from "react";
import { api, type Config, type ModelsView, type Problem } from "../api";
import { useWords } from "../i18n";
import { useServerEvent } from "../serverEvents";
import { useLoaded } from "../useLoaded";

/** Which models there are, and what the settings say of them. */
export interface Models {
  /** What was found takes a moment; null until then. */
  view: ModelsView | null;
  config: Config | null;
  problem: Problem | null;
  isLooking: boolean;
  reload: () => void;
}

/** Look for models on the server's machine, and again whenever a setting changes. */
export function useModels(): Models {
  const words = useWords().models;
  const view = useLoaded((signal) => api.getModels(signal), []);
  const config = useLoaded((signal) => api.getConfig(signal), []);
  const reload = () => {
    view.reload();
    config.reload();
  };
  useServerEvent("settings", reload);
  useServerEvent("hello", reload);
  const problem = view.problem ?? config.problem;
  const translated = useMemo(() => view.value && nameCompatible(view.value, words.compatibleLabel), [view.value, words]);
  return { view: translated, config: config.value, problem, isLooking: view.isLoading, reload };
}

/** Providers have names of their own, but for any other address: that one is in the reader's language. */
function nameCompatible(view: ModelsView, label: string): ModelsView {
  const providers = view.providers.map((one) => (one.name === "compatible" ? { ...one, label } : one));
  return { ...view, providers };
}
