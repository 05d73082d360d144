import { type FormEvent, type ReactNode, useState } from "react";
import { api, type MadeToken, type Token } from "../api";
import { useFormat, useWords } from "../i18n";
import { Button, Field, Input, Notice, ProblemNotice, ProblemText, Skeleton } from "../ui";
import { CopyButton } from "../ui/CopyButton";
import { useLoaded } from "../useLoaded";

/** Who else may use this server: made here, shown once, and revoked. */
export function Tokens() {
  const { tokens: words } = useWords().settings;
  const { value, problem, reload } = useLoaded((signal) => api.getTokens(signal), []);
  const [made, setMade] = useState<MadeToken | null>(null);

  const add = async (space: string | null, name: string, ends: string) => {
    setMade(await api.addToken({ space, name, ends: ends || null }));
    reload();
  };
  const revoke = async (id: string) => {
    await api.revokeToken(id);
    if (made?.id === id) setMade(null);
    reload();
  };

  return (
    <div className="tokens">
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton lines={2} />}
      {value?.tokens.length === 0 && <p className="setting-meaning">{words.none}</p>}
      {value && value.tokens.length > 0 && (
        <ul className="tokens-list" aria-label={words.title}>
          {value.tokens.map((token) => (
            <TokenRow key={token.id} token={token} revoke={() => revoke(token.id)} />
          ))}
        </ul>
      )}
      {made && (
        <Notice>
          <p>{words.once}</p>
          <p className="tokens-made">
            <code>{made.token}</code> <CopyButton text={made.token} label={words.copy} />
          </p>
        </Notice>
      )}
      <NewToken add={add} />
    </div>
  );
}

function TokenRow({ token, revoke }: { token: Token; revoke: () => Promise<void> }) {
  const { tokens: words } = useWords().settings;
  const format = useFormat();
  const [isAsked, setAsked] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const used = token.lastUsedAt ? words.used(format.ago(token.lastUsedAt)) : words.unused;
  const ends = token.endsAt ? words.ends(format.shortDate(token.endsAt)) : words.noEnd;
  return (
    <li>
      <div>
        <span className="setting-label">{token.space ?? words.operator}</span> {token.name}
        <p className="setting-meaning">
          {token.id} · {used} · {ends}
        </p>
        {error && <p className="setting-meaning">{error}</p>}
      </div>
      <Button
        small
        tone={isAsked ? "danger" : "plain"}
        onBlur={() => setAsked(false)}
        onClick={() => {
          if (isAsked) void revoke().catch((problem) => setError(<ProblemText problem={problem} />));
          else setAsked(true);
        }}
      >
        {isAsked ? words.really : words.revoke}
      </Button>
    </li>
  );
}

type Add = (space: string | null, name: string, ends: string) => Promise<void>;

function NewToken({ add }: { add: Add }) {
  const { tokens: words } = useWords().settings;
  const [space, setSpace] = useState("");
  const [name, setName] = useState("");
  const [ends, setEnds] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await add(space.trim() || null, name.trim(), ends);
      setName("");
      setEnds("");
    } catch (problem) {
      setError(<ProblemText problem={problem} />);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form className="tokens-new" onSubmit={(event) => void submit(event)}>
      <Field label={words.space} hint={words.spaceHint} error={error}>
        {(ids) => <Input {...ids} value={space} maxLength={64} onChange={(event) => setSpace(event.target.value)} />}
      </Field>
      <Field label={words.name}>
        {(ids) => <Input {...ids} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label={words.lastDay}>
        {(ids) => <Input {...ids} type="date" value={ends} onChange={(event) => setEnds(event.target.value)} />}
      </Field>
      <Button type="submit" icon="key" busy={isBusy}>
        {words.add}
      </Button>
    </form>
  );
}
