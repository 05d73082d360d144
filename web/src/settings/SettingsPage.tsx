import { type ReactNode, useEffect, useId, useRef } from "react";
import { api, type Setting } from "../api";
import { useI18n, useWords } from "../i18n";
import { ModelPanel } from "../models/ModelPanel";
import { ModelState } from "../models/ModelState";
import { useConfirmation } from "../models/useConfirmation";
import { useModels } from "../models/useModels";
import { LanguageChoice, ThemeChoice } from "../Preferences";
import { useRoute } from "../route";
import { useServerEvent } from "../serverEvents";
import { Icon, PageHead, ProblemNotice, Skeleton } from "../ui";
import { useLoaded } from "../useLoaded";
import { type Save, SettingRow } from "./SettingRow";
import { FIRST, groupSettings } from "./settingGroups";
import { Tokens } from "./Tokens";
import "./settings.css";

/** Everything that can be set, each with its meaning; what is changed holds at once. */
export default function SettingsPage() {
  const words = useWords();
  const { confirm, question } = useConfirmation();
  const { value, problem, reload, set } = useLoaded((signal) => api.getSettings(signal), []);
  useServerEvent("settings", reload);
  useServerEvent("hello", reload);

  const save: Save = async (key, changed) => {
    const address = typeof changed === "string" ? changed : null;
    await confirm(address, (isConfirmed) => api.configure({ [key]: changed, confirm: isConfirmed }));
    set(await api.getSettings());
  };

  return (
    <div className="page settings">
      <PageHead title={words.settings.title}>
        <p>{words.settings.intro}</p>
      </PageHead>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {value ? <SettingsSections settings={value.settings} save={save} /> : !problem && <Skeleton lines={8} />}
      {question}
    </div>
  );
}

function SettingsSections({ settings, save }: { settings: Setting[]; save: Save }) {
  const { words } = useI18n();
  const wanted = useRoute().query.get("group");
  const { value: state } = useLoaded((signal) => api.getOperator(signal), []);
  return (
    <>
      <LearningSetting settings={settings} save={save} />
      <Appearance />
      {groupSettings(settings).map(([group, found]) => (
        <SettingsSection key={group} {...words.settings.groups[group]} isWanted={group === wanted}>
          {group === "model" && <ModelSetting />}
          {found.map((setting) => (
            <SettingRow key={setting.key} setting={setting} save={save} />
          ))}
        </SettingsSection>
      ))}
      {state?.operator && (
        <SettingsSection {...words.settings.tokens} isWanted={wanted === "tokens"}>
          <Tokens />
        </SettingsSection>
      )}
    </>
  );
}

/** Which model answers, and another one in its place. */
function ModelSetting() {
  const models = useModels();
  return (
    <div className="settings-models">
      <ModelState view={models.view} />
      <ModelPanel models={models} />
    </div>
  );
}

/** Whether anything is learned from conversations: the one choice that everybody should see. */
function LearningSetting({ settings, save }: { settings: Setting[]; save: Save }) {
  const { auto } = useWords().settings;
  const setting = settings.find(({ key }) => key === FIRST);
  if (!setting) return null;
  const isEnabled = settings.find(({ key }) => key === "enabled")?.value !== false;
  const now = setting.value ? auto.on : auto.off;
  return (
    <section className="card settings-first">
      <SettingRow setting={setting} save={save} />
      <p className="settings-now" data-on={isEnabled && setting.value === true}>
        <Icon name={isEnabled && setting.value ? "leaf" : "info"} />
        {isEnabled ? now : auto.noMemory}
      </p>
    </section>
  );
}

function Appearance() {
  const words = useWords();
  return (
    <SettingsSection {...words.settings.appearance}>
      <div className="setting">
        <span className="setting-label">{words.theme.label}</span>
        <div className="setting-control">
          <ThemeChoice />
        </div>
      </div>
      <div className="setting">
        <span className="setting-label">{words.language.label}</span>
        <div className="setting-control">
          <LanguageChoice />
        </div>
      </div>
    </SettingsSection>
  );
}

interface SectionProps {
  title: string;
  text: string;
  /** Whether the address asks for this one. */
  isWanted?: boolean;
  children: ReactNode;
}

function SettingsSection({ title, text, isWanted, children }: SectionProps) {
  const id = useId();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isWanted) section.current?.scrollIntoView();
  }, [isWanted]);
  return (
    <section ref={section} className="settings-group" aria-labelledby={id}>
      <div className="settings-group-head">
        <h2 id={id}>{title}</h2>
        {text && <p>{text}</p>}
      </div>
      <div className="card">{children}</div>
    </section>
  );
}
