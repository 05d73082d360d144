import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useWords } from "../i18n";
import { Input, Slider, Switch } from "../ui";
import { formatPercent, parsePercent, parseWholeNumber } from "./parseValue";
import type { ControlProps } from "./SettingRow";
import { SUGGESTIONS } from "./settingGroups";

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
  const finish = () => {
    const typed = draft.trim();
    if (typed === shown) refuse(null);
    else if (typed !== tried.current) commit(typed);
    tried.current = typed;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") finish();
    if (event.key !== "Escape") return;
    setDraft(shown);
    refuse(null);
  };
  return { draft, setDraft, finish, onKeyDown };
}

/** A whole number. */
export function NumberControl({ setting, ids, disabled, unit, save, refuse }: ControlProps) {
  const words = useWords();
  const least = setting.least ?? 1;
  const { draft, setDraft, finish, onKeyDown } = useDraft(String(setting.value ?? ""), refuse, (typed) => {
    const number = parseWholeNumber(typed, least);
    if (number === undefined) refuse(words.settings.wholeNumber(least));
    else save(number);
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
        onBlur={finish}
        onKeyDown={onKeyDown}
      />
      {unit && <span className="setting-unit">{unit}</span>}
    </span>
  );
}

/** A share of the whole, by dragging or as a percentage. */
export function ShareControl({ setting, ids, disabled, save, refuse }: ControlProps) {
  const words = useWords();
  const shown = formatPercent(Number(setting.value));
  const { draft, setDraft, finish, onKeyDown } = useDraft(shown, refuse, (typed) => {
    const share = parsePercent(typed);
    if (share === undefined) refuse(words.settings.share);
    else save(share);
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
        onPointerUp={finish}
        onKeyUp={finish}
        onBlur={finish}
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
          onBlur={finish}
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
  const { draft, setDraft, finish, onKeyDown } = useDraft(shown, refuse, (typed) => save(typed || null));
  return (
    <>
      <Input
        {...ids}
        value={draft}
        disabled={disabled}
        placeholder={words.settings.unset}
        list={suggestions && list}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={finish}
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
