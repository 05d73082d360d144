import { type FormEvent, useEffect, useId, useState } from "react";
import { api, type ModelProvider } from "../api";
import { capitalise } from "../format";
import { useWords } from "../i18n";
import { Button, Dialog, Field, FieldError, Input, ProblemText, ServerMessage, Skeleton, useToasts } from "../ui";
import { useLoaded } from "../useLoaded";
import { nameDestination, shortenName } from "./modelChoices";
import { OutcomeText } from "./OutcomeText";
import type { Confirm } from "./useConfirmation";
import { isSame, type Trial } from "./useTrial";

interface ProviderStepsProps {
  provider: ModelProvider;
  trial: Trial;
  confirm: Confirm;
  /** The key is another one now. */
  onKey: () => void;
}

interface ProviderFormProps extends Omit<ProviderStepsProps, "provider"> {
  providers: ModelProvider[];
  /** Which one is shown. */
  chosen: string;
  onChoose: (name: string) => void;
}

/** Another provider: its key or its address, then its models, then a test. */
export function ProviderForm({ providers, chosen, onChoose, ...rest }: ProviderFormProps) {
  const words = useWords().models;
  const id = useId();
  const provider = providers.find(({ name }) => name === chosen);
  return (
    <section className="models-part" aria-labelledby={id}>
      <h3 id={id}>{words.another}</h3>
      <Field label={words.provider}>
        {(ids) => (
          <select {...ids} className="input" value={chosen} onChange={(event) => onChoose(event.target.value)}>
            <option value="">{words.chooseProvider}</option>
            {providers.map(({ name, label }) => (
              <option key={name} value={name}>
                {name === "compatible" ? words.compatible : label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {provider && <ProviderSteps key={provider.name} provider={provider} {...rest} />}
    </section>
  );
}

/** Where a provider is asked for its models; another object means to ask again. */
interface ModelPlace {
  url: string | null;
}

function ProviderSteps({ provider, trial, confirm, onKey }: ProviderStepsProps) {
  const isAddressed = !provider.needsKey;
  const [place, setPlace] = useState<ModelPlace | null>(provider.key && !isAddressed ? { url: null } : null);
  const refresh = (next: ModelPlace | null) => {
    setPlace(next);
    onKey();
  };
  return (
    <>
      {isAddressed ? (
        <AddressForm provider={provider} confirm={confirm} onPlace={refresh} />
      ) : (
        <KeyPart provider={provider} onPlace={refresh} />
      )}
      {place && <ModelChoice provider={provider} place={place} trial={trial} confirm={confirm} />}
    </>
  );
}

/** The key of a provider that needs one: there, with ways to replace and remove it, or to be pasted. */
function KeyPart({ provider, onPlace }: { provider: ModelProvider; onPlace: (place: ModelPlace | null) => void }) {
  const words = useWords();
  const toasts = useToasts();
  const [isReplacing, setReplacing] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const { name, label, key } = provider;
  const save = async (secret: string) => {
    await api.setKey(name, { key: secret });
    setReplacing(false);
    onPlace({ url: null });
  };
  const remove = async () => {
    setRemoving(false);
    await api.removeKey(name).catch(toasts.fail);
    onPlace(null);
  };
  if (key === null || isReplacing)
    return <KeyForm label={label} onSave={save} onCancel={isReplacing ? () => setReplacing(false) : null} />;
  return (
    <div className="models-key">
      <p>{capitalise(words.models.keys[key])}</p>
      {key !== "environment" && (
        <>
          <Button small onClick={() => setReplacing(true)}>
            {words.models.replaceKey}
          </Button>
          <Button small tone="danger" onClick={() => setRemoving(true)}>
            {words.models.removeKey}
          </Button>
        </>
      )}
      {isRemoving && (
        <Dialog
          title={words.models.removing.title(label)}
          onClose={() => setRemoving(false)}
          actions={
            <>
              <Button onClick={() => setRemoving(false)}>{words.common.cancel}</Button>
              <Button tone="danger" onClick={() => void remove()}>
                {words.models.removeKey}
              </Button>
            </>
          }
        >
          <p>{words.models.removing.text}</p>
        </Dialog>
      )}
    </div>
  );
}

interface KeyFormProps {
  label: string;
  onSave: (key: string) => Promise<void>;
  onCancel: (() => void) | null;
}

function KeyForm({ label, onSave, onCancel }: KeyFormProps) {
  const words = useWords();
  const [draft, setDraft] = useState("");
  const { isBusy, error, run } = useSubmission();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const secret = draft.trim();
    setDraft(""); // it is never shown again, not even as dots
    void run(() => onSave(secret));
  };
  return (
    <form className="models-form" onSubmit={submit}>
      <Field label={words.models.keyOf(label)} hint={words.models.keyHint} error={error}>
        {(ids) => <KeyInput {...ids} required value={draft} onChange={(event) => setDraft(event.target.value)} />}
      </Field>
      <div className="models-actions">
        <Button tone="primary" type="submit" busy={isBusy}>
          {words.models.saveKey}
        </Button>
        {onCancel && <Button onClick={onCancel}>{words.common.cancel}</Button>}
      </div>
    </form>
  );
}

function KeyInput(props: React.ComponentProps<typeof Input>) {
  return <Input {...props} type="password" autoComplete="off" spellCheck={false} autoCapitalize="off" icon="key" />;
}

interface AddressFormProps extends Pick<ProviderStepsProps, "provider" | "confirm"> {
  onPlace: (place: ModelPlace) => void;
}

/** The address of a server of one's own, and a key if it wants one. */
function AddressForm({ provider, confirm, onPlace }: AddressFormProps) {
  const words = useWords().models;
  const [address, setAddress] = useState(provider.url ?? "");
  const [draft, setDraft] = useState("");
  const { isBusy, error, run } = useSubmission();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const url = address.trim().replace(/\/+$/, "");
    const secret = draft.trim();
    setDraft("");
    void run(async () => {
      if (secret)
        await confirm(url, (isConfirmed) => api.setKey(provider.name, { key: secret, url, confirm: isConfirmed }));
      onPlace({ url });
    });
  };
  return (
    <form className="models-form" onSubmit={submit}>
      <Field label={words.address} hint={words.addressHint} error={error}>
        {(ids) => (
          <Input
            {...ids}
            type="url"
            required
            autoComplete="off"
            spellCheck={false}
            placeholder="http://localhost:8000/v1"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        )}
      </Field>
      {provider.variable !== null && (
        <Field label={words.keyIfNeeded} hint={words.keyHint}>
          {(ids) => <KeyInput {...ids} value={draft} onChange={(event) => setDraft(event.target.value)} />}
        </Field>
      )}
      <div className="models-actions">
        <Button type="submit" busy={isBusy}>
          {words.showModels}
        </Button>
      </div>
    </form>
  );
}

/** Send something, and say why it was refused. */
function useSubmission() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async (act: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, run, error: problem ? <ProblemText problem={problem} /> : null };
}

interface ModelChoiceProps extends Omit<ProviderStepsProps, "onKey"> {
  place: ModelPlace;
}

/** The models of a provider; where it lists none, a name can be typed. */
function ModelChoice({ provider, place, trial, confirm }: ModelChoiceProps) {
  const words = useWords().models;
  const [model, setModel] = useState("");
  const { value, problem, isLoading } = useLoaded(
    (signal) =>
      confirm(place.url, (isConfirmed) => api.listModels(provider.name, { url: place.url, confirm: isConfirmed }, signal)),
    [place],
  );
  const models = problem ? [] : (value?.models ?? []);
  useEffect(() => {
    if (value) setModel((now) => (value.models.includes(now) || value.models.length !== 1 ? now : value.models[0]!));
  }, [value]);
  if (isLoading)
    return (
      <div className="models-looking">
        <p role="status">{words.listing(provider.label)}</p>
        <Skeleton lines={1} />
      </div>
    );
  const destination = nameDestination(provider, place.url ?? provider.url);
  const choice = { model, url: place.url };
  const isBusy = isSame(trial.underWay?.choice, choice);
  return (
    <div className="models-form">
      {problem && (
        <FieldError>{problem.code === "model" ? <ServerMessage text={problem.message} /> : <ProblemText problem={problem} />}</FieldError>
      )}
      {(!problem || place.url !== null) && (
        <Field label={words.model} hint={destination === null ? words.stay : words.goTo([destination])}>
          {(ids) =>
            models.length ? (
              <select {...ids} className="input" value={model} onChange={(event) => setModel(event.target.value)}>
                <option value="">{words.chooseModel(models.length)}</option>
                {models.map((one) => (
                  <option key={one} value={one}>
                    {shortenName(one)}
                  </option>
                ))}
              </select>
            ) : (
              <Input
                {...ids}
                autoComplete="off"
                spellCheck={false}
                placeholder={words.typeModel}
                value={model && shortenName(model)}
                onChange={({ target }) => setModel(target.value && `${provider.name}:${target.value.trim()}`)}
              />
            )
          }
        </Field>
      )}
      {model && (
        <>
          <div className="models-actions">
            <Button
              busy={isBusy && trial.underWay?.act === "test"}
              disabled={trial.underWay !== null}
              onClick={() => trial.test(choice)}
            >
              {words.test}
            </Button>
            <Button
              tone="primary"
              busy={isBusy && trial.underWay?.act === "use"}
              disabled={trial.underWay !== null}
              onClick={() => trial.use(choice)}
            >
              {words.useModel}
            </Button>
          </div>
          <OutcomeText trial={trial} choice={choice} />
        </>
      )}
    </div>
  );
}
