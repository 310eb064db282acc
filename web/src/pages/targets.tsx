import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { api, type Schemas, told } from "../api/client";
import { useMay, useSession } from "../api/session";
import { ErrorBox } from "../components/feedback";
import { FieldErrors, Labelled } from "../components/field-errors";
import { CopyButton } from "../components/files";
import { useOneAtATime } from "../components/one-at-a-time";
import { Table } from "../components/table";
import { moment } from "../format";
import { noticesWanted, onNoticesWanted, wantNotices } from "../notices";

type Target = Schemas["TargetView"];
type Kind = Target["on"][number];
const KINDS: Kind[] = ["submitted", "started", "requeued", "succeeded", "failed", "cancelled"];
const ENDS: Kind[] = ["succeeded", "failed", "cancelled"];
const LOOK_MS = 2_000;

/** Where the user is told what happens to executions: this browser, webhooks and mail. */
export function Targets() {
  const { tenant } = useSession();
  const maySubmit = useMay("submit");
  const { data, error } = useQuery({
    queryKey: ["targets"],
    queryFn: () => told(api.GET("/api/v1/notifications")),
    refetchInterval: (query) => (query.state.data?.targets.some((one) => one.test) ? LOOK_MS : false),
  });
  return (
    <section className="card" aria-label="Notifications">
      <h2>Notifications</h2>
      <InThisBrowser />
      <ErrorBox error={error} />
      <Table
        headings={["Name", "Of", "Where", "Of what", "State", { text: "Change", hidden: true }]}
        empty="Nobody is notified elsewhere yet: set a webhook or an address."
      >
        {data?.targets.map((one) => (
          <TargetRow key={`${one.user ?? ""}/${one.name}`} target={one} />
        ))}
      </Table>
      {maySubmit && <NewTarget tenant={tenant} />}
    </section>
  );
}

function InThisBrowser() {
  const wanted = useSyncExternalStore(onNoticesWanted, noticesWanted);
  if (wanted === "unknown") return null;
  return (
    <label>
      <input
        type="checkbox"
        checked={wanted === "on"}
        disabled={wanted === "denied"}
        onChange={(e) => void wantNotices(e.target.checked)}
      />{" "}
      Notify me here when one of my executions has ended
      {wanted === "denied" && <span className="faint"> (this browser does not allow it)</span>}
    </label>
  );
}

function TargetRow({ target }: { target: Target }) {
  const { tenant } = useSession();
  const mayChange = useMay(target.user === null ? "operate" : "submit");
  const queries = useQueryClient();
  const renew = () => queries.invalidateQueries({ queryKey: ["targets"] });
  const params = { path: { name: target.name }, query: { of_tenant: target.user === null } };
  const test = useOneAtATime({
    mutationFn: () => told(api.POST("/api/v1/notifications/{name}/test", { params })),
    onSettled: renew,
  });
  const remove = useMutation({
    mutationFn: () => told(api.DELETE("/api/v1/notifications/{name}", { params })),
    onSettled: renew,
    meta: { done: () => `${target.name} is notified no longer.` },
  });
  return (
    <tr>
      <td>
        <code>{target.name}</code>
      </td>
      <td>{target.user ?? tenant}</td>
      <td className="wrap">{target.url}</td>
      <td>{target.on.join(", ") || "what is asked for"}</td>
      <td>
        {stateOf(target)}
        <ErrorBox error={test.error ?? remove.error} />
      </td>
      <td>
        {mayChange && (
          <>
            <button
              type="button"
              aria-label={`Test ${target.name}`}
              disabled={target.test}
              onClick={() => test.mutate()}
            >
              Test
            </button>{" "}
            <button
              type="button"
              className="danger"
              aria-label={`Remove ${target.name}`}
              onClick={() => window.confirm(`Notify ${target.name} no longer?`) && remove.mutate()}
            >
              Remove
            </button>
          </>
        )}
      </td>
    </tr>
  );
}

function stateOf(target: Target): string {
  const why = target.last_error ? `: ${target.last_error}` : "";
  if (target.test) return "a test is under way";
  if (target.stopped) return `stopped${why}`;
  if (target.failures > 0) return `fails${why}`;
  return target.told_at_s === null ? "not used yet" : `told ${moment(target.told_at_s)}`;
}

function NewTarget({ tenant }: { tenant: string }) {
  const mayOperate = useMay("operate");
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [on, setOn] = useState<Kind[]>(ENDS);
  const [ofTenant, setOfTenant] = useState(false);
  const set = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/notifications/{name}", {
          params: { path: { name }, query: { of_tenant: ofTenant } },
          body: { url, on, new_secret: false },
        }),
      ),
    onSuccess: () => {
      setName("");
      setUrl("");
      return queries.invalidateQueries({ queryKey: ["targets"] });
    },
  });
  return (
    <FieldErrors error={set.error} labels={{ name: "Name", url: "URL" }}>
      <form
        className="stacked"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          set.mutate();
        }}
      >
        <Labelled field="name" label="Name of the target">
          <input
            value={name}
            onChange={(e) => setName(e.target.value)}
            pattern="[A-Za-z0-9][A-Za-z0-9_\-]*"
            maxLength={63}
            title="Letters, digits, _ and -"
            required
          />
        </Labelled>
        <Labelled field="url" label="URL">
          <input
            value={url}
            placeholder="https://… or mailto:name@example.org"
            onChange={(e) => setUrl(e.target.value)}
            maxLength={2000}
            required
          />
        </Labelled>
        <fieldset>
          <legend>Of what</legend>
          {KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={on.includes(kind)}
                onChange={(e) => setOn(e.target.checked ? [...on, kind] : on.filter((one) => one !== kind))}
              />{" "}
              {kind}
            </label>
          ))}
        </fieldset>
        {mayOperate && (
          <label>
            <input type="checkbox" checked={ofTenant} onChange={(e) => setOfTenant(e.target.checked)} /> of
            all executions of {tenant}
          </label>
        )}
        <ErrorBox error={set.error} />
        {set.data?.secret && (
          <p role="status">
            Secret of the webhook, shown only now: <code>{set.data.secret}</code>{" "}
            <CopyButton text={set.data.secret} />
          </p>
        )}
        <button type="submit" disabled={set.isPending}>
          Notify it
        </button>
      </form>
    </FieldErrors>
  );
}
