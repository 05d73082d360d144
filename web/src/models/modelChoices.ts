/** What can be chosen, what a choice changes in the settings, and who is then sent words. */

import type { Config, ModelProvider, ModelsView, SettingValue } from "../api";

/** A model, and where it is asked if not at its provider's address. */
export interface Choice {
  model: string;
  url: string | null;
}

/** A model that a conversation may be answered by. */
export interface Pick {
  model: string;
  /** Who serves it. */
  label: string;
  isLocal: boolean;
}

export const NO_MODEL = "recall";
const CLAUDE = "claude-cli";
const OLLAMA = "ollama";
const CLAUDE_LABEL = "Anthropic";
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Return the part of a model's name that says who serves it. */
export function getProviderName(model: string): string {
  return model.split(":")[0]!;
}

/** Return a model's name without its provider. */
export function shortenName(model: string): string {
  return model === CLAUDE ? "claude" : model.slice(model.indexOf(":") + 1);
}

function findProvider(model: string, view: ModelsView): ModelProvider | undefined {
  return view.providers.find(({ name }) => name === getProviderName(model));
}

/** Whether an address is on the server's own machine. */
export function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/** Return the settings that make a model the one that answers; an address of another goes. */
export function planChange({ model, url }: Choice, view: ModelsView, config: Config): Record<string, SettingValue> {
  const usual = findProvider(model, view)?.url ?? null;
  const isAsSet = url !== null && url === config.modelUrl;
  if (isAsSet || config.locked.includes("modelUrl")) return { model };
  return { model, modelUrl: url === usual ? null : url };
}

/** Whether nobody has chosen a model, so that it is worth asking. */
export function isUndecided(config: Config): boolean {
  return config.model === null && !config.locked.includes("model");
}

/** Return providers with a key, which can be asked what models they have. */
export function listKeyed(view: ModelsView): ModelProvider[] {
  return view.providers.filter(({ key, url }) => key !== null && url !== null);
}

/** Why a model cannot answer: no key, no server, no such model there, or a name that is none. */
export interface Lack {
  kind: "key" | "away" | "missing" | "unusable";
  label: string;
}

/** Return what keeps the model that is set from answering, as far as that is known without asking it. */
export function findLack(view: ModelsView): Lack | null {
  const { name, url, lack } = view.current;
  const provider = findProvider(name, view);
  const label = provider?.label ?? name;
  if (lack !== null) return { kind: provider?.needsKey && provider.key === null ? "key" : "unusable", label };
  if (!provider?.local || url === null || !isOnThisMachine(url)) return null;
  const found = view.found.find((one) => one.provider === provider.name);
  if (!found) return { kind: "away", label };
  return provider.name === OLLAMA && !hasModel(found.models, name) ? { kind: "missing", label } : null;
}

/** Whether Ollama has a model; where no tag is named, it takes the latest. */
function hasModel(models: string[], name: string): boolean {
  return models.includes(name) || models.includes(`${name}:latest`);
}

/** Return the models that a conversation may be answered by, the one that is set first. */
export function listPicks(view: ModelsView, recent: string[]): Pick[] {
  const found = view.found
    .filter(({ provider, url }) => url === null || findProvider(provider, view)?.url === url)
    .flatMap(({ models }) => models);
  const known = recent.filter((model) => canBeAsked(model, view));
  const names = new Set([view.current.name, ...found, ...known, NO_MODEL].filter(Boolean));
  return [...names].filter((model) => mayPick(model, view)).map((model) => describe(model, view));
}

/** Return the providers whose models a conversation may be answered by, once they were asked for a list of them. */
export function listPickable(view: ModelsView): ModelProvider[] {
  return listKeyed(view).filter(({ name }) => mayPick(name, view));
}

/** Whether words go to nobody else by it, or whoever decides about that picks it. */
function mayPick(model: string, { operator, current }: ModelsView): boolean {
  return operator || model === NO_MODEL || getProviderName(model) === getProviderName(current.name);
}

function canBeAsked(model: string, view: ModelsView): boolean {
  const provider = findProvider(model, view);
  return provider !== undefined && provider.url !== null && (!provider.needsKey || provider.key !== null);
}

function describe(model: string, view: ModelsView): Pick {
  const label = findProvider(model, view)?.label ?? CLAUDE_LABEL;
  return { model, label, isLocal: findDestination(model, view) === null };
}

/** Return who is sent what is said in a conversation that is answered by a model. */
export function listDestinations(model: string, view: ModelsView, config: Config): string[] {
  if (model === view.current.name) return view.wordsGo.to;
  const isLearning = config.enabled && config.autoExtract;
  const extractor = isLearning ? (config.extractModel ?? view.current.name) : NO_MODEL;
  const embedding = config.embeddings ? config.embeddingsUrl : null;
  const found = [findDestination(model, view), findDestination(extractor, view), nameServer(embedding)];
  return [...new Set(found.filter((name) => name !== null))];
}

function findDestination(model: string, view: ModelsView): string | null {
  const provider = findProvider(model, view);
  if (!provider) return getProviderName(model) === CLAUDE ? CLAUDE_LABEL : null;
  return nameDestination(provider, provider.url);
}

/** Return who is sent words at an address of a provider; nobody where that is on this machine. */
export function nameDestination({ needsKey, label }: ModelProvider, url: string | null): string | null {
  const server = nameServer(url);
  return server !== null && needsKey ? label : server;
}

function nameServer(url: string | null): string | null {
  return url === null || !URL.canParse(url) || isOnThisMachine(url) ? null : new URL(url).hostname;
}
