import { LANGUAGES, useI18n } from "./i18n";
import { setTheme, THEMES, useTheme } from "./theme";
import { type IconName, Segmented } from "./ui";

const ICONS: Record<string, IconName> = { system: "monitor", light: "sun", dark: "moon" };

/** The choice of colours. */
export function ThemeChoice({ iconsOnly }: { iconsOnly?: boolean }) {
  const { words } = useI18n();
  const theme = useTheme();
  const choices = THEMES.map((value) => ({ value, label: words.theme[value], icon: ICONS[value] }));
  return (
    <Segmented label={words.theme.label} choices={choices} value={theme} onChange={setTheme} iconsOnly={iconsOnly} />
  );
}

/** The choice of language. */
export function LanguageChoice({ short }: { short?: boolean }) {
  const { words, language, setLanguage } = useI18n();
  const choices = LANGUAGES.map((one) => ({ value: one.value, label: short ? one.short : one.label }));
  return <Segmented label={words.language.label} choices={choices} value={language} onChange={setLanguage} />;
}
