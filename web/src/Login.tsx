import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "./api";
import { useWords } from "./i18n";
import { setToken } from "./token";
import { Button, Field, Input, Logo, ProblemText, useTitle } from "./ui";

/** Asks for the token, and for nothing else. */
export function Login() {
  const words = useWords();
  const [value, setValue] = useState("");
  const [isTrying, setTrying] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  useTitle(words.login.title);

  const open = async (event: FormEvent) => {
    event.preventDefault();
    setTrying(true);
    try {
      if (await api.isTokenAccepted(value.trim())) setToken(value);
      else setError(words.login.refused);
    } catch (problem) {
      setError(<ProblemText problem={problem} />);
    } finally {
      setTrying(false);
    }
  };

  return (
    <main className="login">
      <div className="card login-card">
        <span className="brand">
          <Logo /> Turnleaf
        </span>
        <h1>{words.login.title}</h1>
        <p>{words.login.explanation}</p>
        <form onSubmit={(event) => void open(event)}>
          <Field label={words.login.token} error={error}>
            {(ids) => (
              <Input
                {...ids}
                type="password"
                autoComplete="current-password"
                autoFocus
                required
                value={value}
                onChange={(event) => setValue(event.target.value)}
              />
            )}
          </Field>
          <Button tone="primary" type="submit" icon="key" busy={isTrying}>
            {words.login.open}
          </Button>
        </form>
      </div>
    </main>
  );
}
