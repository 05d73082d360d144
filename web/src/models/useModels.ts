import { api, type Config, type ModelsView, type Problem } from "../api";
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
  const view = useLoaded((signal) => api.getModels(signal), []);
  const config = useLoaded((signal) => api.getConfig(signal), []);
  const reload = () => {
    view.reload();
    config.reload();
  };
  useServerEvent("settings", reload);
  useServerEvent("hello", reload);
  const problem = view.problem ?? config.problem;
  return { view: view.value, config: config.value, problem, isLooking: view.isLoading, reload };
}
