import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../api/client";
import { useMay, useSession } from "../api/session";
import { ErrorBox } from "../components/feedback";
import { FieldErrors, Labelled } from "../components/field-errors";
import { CopyButton } from "../components/files";
import { useOneAtATime } from "../components/one-at-a-time";
import { Table } from "../components/table";
import { Documentation } from "../documentation";
import { moment } from "../format";
import { Secrets } from "./secrets";
import { Targets } from "./targets";

export default function AccountPage() {
  const session = useSession();
  return (
    <>
      <h1>{session.user}</h1>
      <p className="faint">
        {session.role} of {session.tenant}; scopes: {session.scopes.join(", ")}
      </p>
      <div className="columns">
        <CommandLine />
        <Tokens />
        <Secrets />
        <Targets />
        <Password />
      </div>
    </>
  );
}

declare const __CLIENT_WHEEL__: string;

/** How the command line and the SDK of this server's version come to another machine. */
function CommandLine() {
  const { origin } = window.location;
  const wheel = `${origin}/client/${__CLIENT_WHEEL__}`;
  const commands = `pip install ${wheel}\nzoe login ${origin}`;
  return (
    <section className="card" aria-label="Command line and SDK">
      <h2>Command line and SDK</h2>
      <p className="faint">
        For another machine with Python 3.11 or later; <a href={wheel}>the wheel</a> holds both.{" "}
        <Documentation page="laptop">What they can do</Documentation>
      </p>
      <pre className="wrap">{commands}</pre>
      <CopyButton text={commands} />
    </section>
  );
}

function Tokens() {
  const { scopes } = useSession();
  const maySubmit = useMay("submit");
  const queries = useQueryClient();
  const [note, setNote] = useState("");
  const [days, setDays] = useState(90);
  const { data, error } = useQuery({ queryKey: ["tokens"], queryFn: () => told(api.GET("/api/v1/tokens")) });
  const renew = () => queries.invalidateQueries({ queryKey: ["tokens"] });
  const add = useOneAtATime({
    mutationFn: () =>
      told(
        api.POST("/api/v1/tokens", {
          body: {
            note,
            lifetime_s: days * 86_400,
            scopes: scopes.filter((one) => one === "read" || one === "submit"),
          },
        }),
      ),
    onSuccess: renew,
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      told(api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: id } } })),
    onSettled: renew,
    meta: { done: (id: string) => `The token ${id} is revoked.` },
  });
  return (
    <FieldErrors error={add.error} labels={{ note: "Note", lifetime_s: "Days" }}>
      <section className="card" aria-label="Tokens">
        <h2>Tokens for programs</h2>
        <p className="faint">
          What programs may ask: <a href="/api/docs">the reference of the API</a>
        </p>
        <ErrorBox error={error ?? add.error ?? revoke.error} />
        {add.data?.secret && <NewSecret secret={add.data.secret} />}
        <Table
          headings={["Token", "Note", "Scopes", "Ends", { text: "Revoke", hidden: true }]}
          empty="You have none."
        >
          {data?.tokens.map((token) => (
            <TokenRow
              key={token.id}
              token={token}
              onRevoke={() => window.confirm(revokeQuestion(token)) && revoke.mutate(token.id)}
            />
          ))}
        </Table>
        {maySubmit && (
          <form
            className="row"
            onSubmit={(event: FormEvent) => {
              event.preventDefault();
              add.mutate();
            }}
          >
            <Labelled field="note" label="Note">
              <input value={note} onChange={(e) => setNote(e.target.value)} maxLength={200} />
            </Labelled>
            <Labelled field="lifetime_s" label="Days">
              <input
                type="number"
                min={1}
                max={365}
                value={days}
                onChange={(e) => setDays(e.target.valueAsNumber)}
                required
              />
            </Labelled>
            <button type="submit" className="primary" disabled={add.isPending}>
              Make a token
            </button>
          </form>
        )}
      </section>
    </FieldErrors>
  );
}

function NewSecret({ secret }: { secret: string }) {
  return (
    <div className="notice good" role="status">
      <p>This is shown once. Store it where your programs find it:</p>
      <p>
        <code>{secret}</code> <CopyButton text={secret} />
      </p>
      <pre className="scroll">{`export ZOE_URL=${window.location.origin} ZOE_TOKEN=…\nzoe ls`}</pre>
    </div>
  );
}

export function revokeQuestion(token: Schemas["TokenView"]): string {
  return `Revoke ${token.note || token.id}? Programs that use it are refused from now on.`;
}

export function TokenRow({ token, onRevoke }: { token: Schemas["TokenView"]; onRevoke: () => void }) {
  return (
    <tr>
      <td>
        <code>{token.id}</code>
      </td>
      <td>{token.note}</td>
      <td>{token.scopes.join(", ")}</td>
      <td className="time">{token.expires_at_s === null ? "never" : moment(token.expires_at_s)}</td>
      <td>
        <button type="button" className="danger" aria-label={`Revoke ${token.id}`} onClick={onRevoke}>
          Revoke
        </button>
      </td>
    </tr>
  );
}

function Password() {
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const change = useMutation({
    mutationFn: () => told(api.PUT("/api/v1/session/password", { body: { old, new: fresh } })),
    onSuccess: () => window.location.assign("/"),
  });
  return (
    <section className="card" aria-label="Password">
      <h2>Password</h2>
      <p className="faint">Changing it ends all your sessions, including this one.</p>
      <FieldErrors error={change.error} labels={{ old: "Present password", new: "New password" }}>
        <form
          className="stacked"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            change.mutate();
          }}
        >
          <Labelled field="old" label="Present password">
            <input
              type="password"
              autoComplete="current-password"
              value={old}
              onChange={(e) => setOld(e.target.value)}
              required
            />
          </Labelled>
          <Labelled field="new" label="New password, at least 10 characters">
            <input
              type="password"
              autoComplete="new-password"
              minLength={10}
              value={fresh}
              onChange={(e) => setFresh(e.target.value)}
              required
            />
          </Labelled>
          <ErrorBox error={change.error} />
          <button type="submit" disabled={change.isPending}>
            Change it
          </button>
        </form>
      </FieldErrors>
    </section>
  );
}
