import { type ReactNode, useEffect, useId, useState } from "react";
import type { Setting, SettingValue } from "../api";
import { useI18n } from "../i18n";
import { FieldError, Icon, ProblemText } from "../ui";
import { NumberControl, ShareControl, SwitchControl, TextControl } from "./controls";

const SHOWN_MS = 2_500;

export type Save = (key: string, value: SettingValue) => Promise<void>;

export interface ControlProps {
  setting: Setting;
  /** Names and describes the control. */
  ids: { id: string; "aria-describedby": string; "aria-invalid"?: true };
  disabled: boolean;
  unit?: string;
  save: (value: SettingValue) => void;
  /** Say why not; null takes it back. */
  refuse: (why: string | null) => void;
}

/** One setting: what it means, a control that saves at once, and why it was refused. */
export function SettingRow({ setting, save }: { setting: Setting; save: Save }) {
  const { words } = useI18n();
  const id = useId();
  const [error, setError] = useState<ReactNode>(null);
  const [isSaved, setSaved] = useState(false);
  const said = words.settings.fields[setting.key];
  const isFixed = setting.locked || !setting.remote;

  useEffect(() => {
    if (!isSaved) return;
    const timer = setTimeout(() => setSaved(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isSaved]);

  const change = (value: SettingValue) => {
    setError(null);
    save(setting.key, value).then(
      () => setSaved(true),
      (problem: unknown) => setError(<ProblemText problem={problem} />),
    );
  };
  const reset = () => {
    change(null);
    document.getElementById(id)?.focus(); // the button goes away
  };
  const ids = {
    id,
    "aria-describedby": `${id}-meaning ${id}-state`,
    "aria-invalid": error ? (true as const) : undefined,
  };
  return (
    <div className={`setting setting-of-${setting.kind}`}>
      <div className="setting-words">
        <div className="setting-top">
          <label htmlFor={id} className="setting-label">
            {said?.label ?? setting.key}
          </label>
          {!isFixed && setting.from === "file" && <ResetButton setting={setting} onReset={reset} />}
          <span role="status" className="setting-saved">
            {isSaved && <Icon name="check" />}
            {isSaved && words.settings.saved}
          </span>
        </div>
        <p id={`${id}-meaning`} className="setting-meaning">
          {said?.meaning ?? setting.meaning}
        </p>
      </div>
      <div className="setting-control">
        <Control setting={setting} ids={ids} disabled={isFixed} unit={said?.unit} save={change} refuse={setError} />
      </div>
      <div id={`${id}-state`} className="setting-state">
        {error && <FieldError>{error}</FieldError>}
        {setting.locked && <LockedNote>{words.settings.locked}</LockedNote>}
        {!setting.locked && !setting.remote && <LockedNote>{words.settings.notHere}</LockedNote>}
      </div>
    </div>
  );
}

function Control(props: ControlProps) {
  switch (props.setting.kind) {
    case "switch":
      return <SwitchControl {...props} />;
    case "number":
      return <NumberControl {...props} />;
    case "share":
      return <ShareControl {...props} />;
    default:
      return <TextControl {...props} />;
  }
}

/** The way back to the default, which it names. */
function ResetButton({ setting, onReset }: { setting: Setting; onReset: () => void }) {
  const { words } = useI18n();
  const shown = useFormatValue(setting);
  return (
    <button type="button" className="setting-reset" onClick={onReset}>
      {words.settings.reset(shown(setting.default))}
    </button>
  );
}

/** Why it cannot be changed here. */
function LockedNote({ children }: { children: ReactNode }) {
  return (
    <p className="setting-fixed">
      <Icon name="lock" />
      <span>{children}</span>
    </p>
  );
}

/** Return a function that writes a value as a person would. */
function useFormatValue(setting: Setting): (value: SettingValue) => string {
  const { words, format } = useI18n();
  return (value) => {
    if (value === null) return words.settings.nothing;
    if (typeof value === "boolean") return value ? words.common.on : words.common.off;
    if (typeof value === "string") return value;
    return setting.kind === "share" ? format.percent(value) : format.number(value);
  };
}
