import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Icon, type IconName } from "./Icon";

interface Tab<Value extends string> {
  value: Value;
  label: string;
  icon?: IconName;
  /** A number beside its name. */
  count?: number;
  /** Words about it, shown as a dot. */
  mark?: string;
}

interface TabsProps<Value extends string> {
  label: string;
  tabs: Tab<Value>[];
  value: Value;
  onChange: (value: Value) => void;
  /** What the chosen tab shows. */
  children: ReactNode;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

/** Several views in one place; arrow keys go from one to the next. */
export function Tabs<Value extends string>({ label, tabs, value, onChange, children }: TabsProps<Value>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a narrow screen the row of tabs scrolls; not the page.
    const chosen = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (chosen) list.current!.scrollLeft = chosen.offsetLeft + chosen.offsetWidth - list.current!.clientWidth;
  }, [value]);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const ends: Record<string, number> = { Home: 0, End: tabs.length - 1 };
    const step = STEPS[event.key];
    const next = step === undefined ? ends[event.key] : (at + step + tabs.length) % tabs.length;
    if (next === undefined) return;
    event.preventDefault();
    onChange(tabs[next]!.value);
    document.getElementById(`${id}-${tabs[next]!.value}`)?.focus();
  };
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} className="tabs" onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.value}
            id={`${id}-${tab.value}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onChange(tab.value)}
          >
            {tab.icon && <Icon name={tab.icon} />}
            {tab.label}
            {tab.mark && (
              <span className="tab-mark" title={tab.mark}>
                <span className="visually-hidden">{tab.mark}</span>
              </span>
            )}
            {!!tab.count && <span className="badge badge-accent">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </>
  );
}
