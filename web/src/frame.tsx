import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "react-router";
import { api, told } from "./api/client";
import { setOutage } from "./api/outage";
import { passes } from "./api/problem";
import { useMay, useSession, useSessionState } from "./api/session";
import { Announced } from "./components/announced";
import { useKeptFocus } from "./components/kept-focus";
import { Documentation } from "./documentation";
import { healthTexts } from "./health";
import { Navigation } from "./navigation";
import { Notifier } from "./notifier";
import { chooseTheme, chosenTheme, type Theme } from "./theme";

/** What is around every page: where to go, who one is, and whether Zoe is all there. */
export function Frame({ children }: { children: ReactNode }) {
  useKeptFocus();
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <Link className="brand" to="/" aria-label="Zoe, first page">
          <img src="/zoe.svg" alt="" width="26" height="26" /> Zoe
        </Link>
        <Navigation />
        <Person />
      </header>
      <Health />
      <Notifier />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Announced />
    </>
  );
}

function Person() {
  const session = useSession();
  const { begin, end } = useSessionState();
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  const changeTenant = async (tenant: string) => {
    begin(await told(api.PUT("/api/v1/session/tenant", { body: { tenant } })));
  };
  return (
    <details className="menu person">
      <summary>
        <span className="who">{session.user}</span>
        <span className="faint">{session.tenant}</span>
      </summary>
      <div className="menu-body">
        <p>
          <strong>{session.user}</strong> is <Documentation page="roles">{session.role}</Documentation> of{" "}
          {session.tenant}
        </p>
        {session.tenants.length > 1 && (
          <label>
            Tenant{" "}
            <select value={session.tenant} onChange={(e) => void changeTenant(e.target.value)}>
              {session.tenants.map((tenant) => (
                <option key={tenant}>{tenant}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Colours{" "}
          <select
            value={theme}
            onChange={(e) => {
              const chosen = e.target.value as Theme;
              chooseTheme(chosen);
              setTheme(chosen);
            }}
          >
            <option value="system">system theme</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <Link to="/account">Tokens and password</Link>
        <Documentation page="all">Documentation</Documentation>
        <button type="button" onClick={() => void end()}>
          Sign out
        </button>
      </div>
    </details>
  );
}

const STATUS_EVERY_MS = 5_000;
/** Longer than an answer takes on a busy day; a server that hangs is away, too. */
const STATUS_WAIT_MS = 8_000;

/** Says what still works while a part of Zoe is away: the one message about it on the page. */
function Health() {
  const { data, error } = useQuery({
    queryKey: ["status"],
    queryFn: () => told(api.GET("/api/v1/status", { signal: AbortSignal.timeout(STATUS_WAIT_MS) })),
    refetchInterval: STATUS_EVERY_MS,
    retry: false,
  });
  const operates = useMay("operate");
  const texts = healthTexts(data, error, operates);
  const away = error !== null && passes(error);
  useEffect(() => setOutage(away), [away]);
  return texts.map((text) => (
    <p key={text} className="health" role="status">
      {text}
    </p>
  ));
}
