import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "react-router";
import { api, type Schemas, told } from "../api/client";
import { useSession } from "../api/session";
import { ErrorBox } from "../components/feedback";
import { moment } from "../format";

type Machine = Schemas["MachineView"];

/** What each scope lets a machine do, for somebody who decides. */
const MAY: Record<Schemas["Scope"], string> = {
  read: "see your executions, files and usage",
  submit: "run, share and cancel executions, and change your files and secrets",
  operate: "operate the cluster, and see and cancel the executions of others",
  admin: "manage users, tenants and limits",
};

/** Where a signed-in user allows `zoe login` of another terminal, or refuses it. */
export default function MachinePage() {
  const [parameters, setParameters] = useSearchParams();
  const code = parameters.get("code") ?? "";
  return (
    <section className="card" aria-label="Allow a machine">
      <h1>Allow a machine</h1>
      {code ? (
        <Decision key={code} code={code} onAnother={() => setParameters({})} />
      ) : (
        <CodeForm onCode={(typed) => setParameters({ code: typed })} />
      )}
    </section>
  );
}

function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const [typed, setTyped] = useState("");
  return (
    <form
      className="stacked"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onCode(typed.trim());
      }}
    >
      <label>
        <span>
          Code that <code>zoe login</code> shows
        </span>
        <input
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={32}
          required
        />
      </label>
      <button type="submit" className="primary">
        Continue
      </button>
    </form>
  );
}

function Decision({ code, onAnother }: { code: string; onAnother: () => void }) {
  const path = { code };
  const { data, error } = useQuery({
    queryKey: ["machine", code],
    queryFn: () => told(api.GET("/api/v1/session/machines/{code}", { params: { path } })),
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const decide = useMutation({
    mutationFn: (allow: boolean) =>
      told(api.PUT("/api/v1/session/machines/{code}", { params: { path }, body: { allow } })),
  });
  if (decide.isSuccess)
    return (
      <p role="status">
        {decide.variables
          ? "Allowed. Go back to the terminal: it is signed in. The token is in your account, where you can revoke it."
          : "Refused. The machine got nothing."}
      </p>
    );
  return (
    <>
      <ErrorBox error={error ?? decide.error} />
      {data && <Facts machine={data} />}
      <p>
        {data && (
          <>
            <button
              type="button"
              className="primary"
              disabled={decide.isPending}
              onClick={() => decide.mutate(true)}
            >
              Allow this machine
            </button>{" "}
            <button
              type="button"
              className="danger"
              disabled={decide.isPending}
              onClick={() => decide.mutate(false)}
            >
              Refuse
            </button>{" "}
          </>
        )}
        {error && (
          <button type="button" onClick={onAnother}>
            Enter another code
          </button>
        )}
      </p>
    </>
  );
}

function Facts({ machine }: { machine: Machine }) {
  const { user, tenant } = useSession();
  return (
    <>
      <p>
        A terminal asks to act as <strong>{user}</strong> in <strong>{tenant}</strong>. Allow it only if you
        have just run <code>zoe login</code> yourself, and your terminal shows this code. Nobody else has a
        reason to send you one.
      </p>
      <dl className="facts">
        <dt>Code</dt>
        <dd>
          <code>{machine.code}</code>
        </dd>
        <dt>Machine, as it says</dt>
        <dd>{machine.machine}</dd>
        <dt>Address</dt>
        <dd>
          {machine.address}
          {!machine.same_network && (
            <strong className="warning"> (not the address of this browser: is it your machine?)</strong>
          )}
        </dd>
        <dt>It may</dt>
        <dd>{machine.scopes.map((scope) => MAY[scope]).join("; ")}</dd>
        <dt>Until</dt>
        <dd>{moment(machine.token_expires_at_s)}, or until you revoke the token</dd>
      </dl>
    </>
  );
}
