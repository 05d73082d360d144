/** Loading something for a component, and knowing how that went. */

import { type DependencyList, useCallback, useEffect, useRef, useState } from "react";
import { isAborted, type Problem, toProblem } from "./api";

export interface LoadedValue<Value> {
  /** What was loaded last; it stays while newer is on its way. */
  value: Value | null;
  problem: Problem | null;
  isLoading: boolean;
  /** Load again. */
  reload: () => void;
  /** Show this from now on, without asking; what is on its way is dropped. */
  set: (value: Value) => void;
}

/** Load when the component appears and whenever `inputs` change; what is out of date is dropped. */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>, inputs: DependencyList): LoadedValue<Value> {
  const [value, setValue] = useState<Value | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const underWay = useRef<AbortController | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    underWay.current = stop;
    setLoading(true);
    latest.current(stop.signal).then(
      (loaded) => {
        if (stop.signal.aborted) return;
        setValue(loaded);
        setProblem(null);
        setLoading(false);
      },
      (error: unknown) => {
        if (stop.signal.aborted || isAborted(error)) return;
        setProblem(toProblem(error));
        setLoading(false);
      },
    );
    return () => stop.abort();
  }, [...inputs, round]);

  const set = useCallback((shown: Value) => {
    underWay.current?.abort(); // it would bring what was so before
    setValue(shown);
    setProblem(null);
    setLoading(false);
  }, []);
  const reload = useCallback(() => setRound((now) => now + 1), []);
  return { value, problem, isLoading, reload, set };
}
