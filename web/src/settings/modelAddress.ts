import type { Setting, SettingValue } from "../api";

/** A model and the address where it was asked. */
interface Asked {
  model: SettingValue;
  modelUrl: string;
}

/** Ask no server, so that no address is wrong for them. */
const ALONE = ["recall", "claude-cli"];

/** Return what another model makes wrong: an address at which it is not served. */
export function findStaleAddress(settings: Setting[], next: SettingValue): Asked | null {
  const [model, url] = ["model", "modelUrl"].map((key) => settings.find((setting) => setting.key === key));
  if (typeof url?.value !== "string" || url.from !== "file") return null;
  const provider = getProvider(next);
  const isRight = ALONE.includes(provider) || provider === getProvider(model?.value ?? null);
  return isRight ? null : { model: model?.value ?? null, modelUrl: url.value };
}

function getProvider(model: SettingValue): string {
  return String(model ?? "").split(":")[0]!;
}
