import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useWords } from "../i18n";
import { Input, Slider, Switch } from "../ui";
import { SUGGESTIONS } from "./groups";
import type { ControlProps } from "./SettingRow";

const HUNDRED = 100;

/** On or off. */
export function SwitchControl({ setting, ids, disabled, save }: ControlProps) {
  return <Switch {...ids} checked={setting.value === true} disabled={disabled} onChange={save} />;
}

/** Hold what is being typed until it is done: Enter or leaving saves it, Escape takes it back. */
function useDraft(shown: string, refuse: ControlProps["refuse"], commit: (draft: string) => void) {
  const [draft, setDraft] = useState(shown);
  const tried = useRef(shown); // what Enter tried is not tried again on leaving
  useEffect(() => {
    setDraft(shown);
    tried.current = shown;
  }, [shown]);
  const done = () => {
    const typed = draft.trim();
    if (typed === shown) refuse(null);
    else if (typed !== tried.current) commit(typed);
    tried.current = typed;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") done();
    if (event.key !== "Escape") return;
    setDraft(shown);
    refuse(null);
  };
  return { draft, setDraft, done, onKeyDown };
}

/** A whole number. */
export function NumberControl({ setting, ids, disabled, unit, save, refuse }: ControlProps) {
  const words = useWords();
  const least = setting.least ?? 1;
  const { draft, setDraft, done, onKeyDown } = useDraft(String(setting.value ?? ""), refuse, (typed) => {
    const number = Number(typed);
    if (typed === "") save(null);
    else if (Number.isSafeInteger(number) && number >= least) save(number);
    else refuse(words.settings.wholeNumber(least));
  });
  return (
    <span className="setting-number">
      <Input
        {...ids}
        inputMode="numeric"
        autoComplete="off"
        value={draft}
        disabled={disabled}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={done}
        onKeyDown={onKeyDown}
      />
      {unit && <span className="setting-unit">{unit}</span>}
    </span>
  );
}

/** A share of the whole, by dragging or as a percentage. */
export function ShareControl({ setting, ids, disabled, save, refuse }: ControlProps) {
  const words = useWords();
  const shown = String(Math.round(Number(setting.value) * HUNDRED * 10) / 10);
  const { draft, setDraft, done, onKeyDown } = useDraft(shown, refuse, (typed) => {
    const percent = Number(typed);
    if (typed === "") save(null);
    else if (percent >= 0 && percent <= HUNDRED) save(Math.round(percent * 10) / (HUNDRED * 10));
    else refuse(words.settings.share);
  });
  const position = Number(draft) || 0;
  return (
    <span className="setting-share">
      <Slider
        {...ids}
        value={Math.min(Math.max(position, 0), HUNDRED)}
        min={0}
        max={HUNDRED}
        step={1}
        disabled={disabled}
        aria-valuetext={`${draft}%`}
        onChange={(value) => setDraft(String(value))}
        onPointerUp={done}
        onKeyUp={done}
        onBlur={done}
      />
      <span className="setting-number">
        <Input
          aria-label={words.settings.percent}
          aria-describedby={ids["aria-describedby"]}
          inputMode="decimal"
          autoComplete="off"
          value={draft}
          disabled={disabled}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={done}
          onKeyDown={onKeyDown}
        />
        <span className="setting-unit">%</span>
      </span>
    </span>
  );
}

/** A name, an address or a place; empty is the default. */
export function TextControl({ setting, ids, disabled, save, refuse }: ControlProps) {
  const words = useWords();
  const list = useId();
  const suggestions = SUGGESTIONS[setting.key];
  const shown = String(setting.value ?? "");
  const { draft, setDraft, done, onKeyDown } = useDraft(shown, refuse, (typed) => save(typed || null));
  return (
    <>
      <Input
        {...ids}
        value={draft}
        disabled={disabled}
        placeholder={setting.key === "model" ? words.settings.automatic : words.settings.unset}
        list={suggestions && list}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={done}
        onKeyDown={onKeyDown}
      />
      {suggestions && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}
