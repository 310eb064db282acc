import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, told } from "../api/client";
import type { Refused } from "../api/problem";
import { leaveForProvider } from "../api/proof";
import { useSessionState } from "../api/session";
import { ErrorBox } from "../components/feedback";
import { FieldErrors, Labelled } from "../components/field-errors";

export function SignInPage({ problem }: { problem: Refused | null }) {
  return (
    <main className="sign-in card">
      <h1>
        <img src="/zoe.svg" alt="" width="40" height="40" /> Zoe
      </h1>
      <p className="faint">Analytics as a service: a scheduler that knows storage.</p>
      <ErrorBox error={problem} />
      <SignInForm />
    </main>
  );
}

/** With a tenant: again, so that the page must stay and other providers' pages come in a tab of their own. */
export function SignInForm({ user: known = "", tenant = null }: { user?: string; tenant?: string | null }) {
  const { begin } = useSessionState();
  const [user, setUser] = useState(known);
  const [password, setPassword] = useState("");
  const [provider, setProvider] = useState("local");
  const { data } = useQuery({
    queryKey: ["providers"],
    queryFn: () => told(api.GET("/api/v1/session/providers")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const byPassword = data?.providers.filter((one) => one.kind === "password") ?? [];
  const elsewhere = data?.providers.filter((one) => one.kind === "redirect") ?? [];
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const asked = { user, password, provider, tenant: user === known ? tenant : null };
      begin(await told(api.POST("/api/v1/session", { body: asked })));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  return (
    <FieldErrors error={problem} labels={{ user: "User", password: "Password", provider: "Known to" }}>
      <form className="stacked" onSubmit={(event) => void signIn(event)}>
        <Labelled field="user" label="User">
          <input value={user} onChange={(e) => setUser(e.target.value)} autoComplete="username" required />
        </Labelled>
        <Labelled field="password" label="Password">
          <input
            type="password"
            value={password}
            onChange={(e) => setPassword(e.target.value)}
            autoComplete="current-password"
            required
          />
        </Labelled>
        {byPassword.length > 1 && (
          <Labelled field="provider" label="Known to">
            <select value={provider} onChange={(e) => setProvider(e.target.value)}>
              {byPassword.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.title}
                </option>
              ))}
            </select>
          </Labelled>
        )}
        <ErrorBox error={problem} />
        <button type="submit" className="primary" disabled={busy}>
          Sign in
        </button>
        {elsewhere.map((one) => (
          <a
            key={one.name}
            className="button"
            href={`${one.start}&next=${encodeURIComponent(here())}`}
            onClick={leaveForProvider}
            onAuxClick={leaveForProvider}
            {...(tenant !== null && { target: "_blank" })}
          >
            Sign in with {one.title}
          </a>
        ))}
      </form>
    </FieldErrors>
  );
}

/** Where to come back to from a provider's page. */
function here(): string {
  return `${window.location.pathname}${window.location.search}`;
}
