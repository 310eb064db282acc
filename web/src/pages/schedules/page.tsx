import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { randomKey } from "../../api/submission";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { Fold } from "../../components/fold";
import { useOneAtATime } from "../../components/one-at-a-time";
import { Table } from "../../components/table";
import { moment } from "../../format";
import { Backfill } from "./backfill";
import { outcome, placeOf, wished } from "./outcome";
import { StoredApplications } from "./stored";

const POLL_MS = 2000;
type Schedule = Schemas["ScheduleView"];
type Action = "hold" | "release" | "run" | "remove";
const DONE = { hold: "is held", release: "is released", run: "has a run in the queue", remove: "is removed" };

/** What runs at which times, and what is stored to be run by name. */
export default function SchedulesPage() {
  const maySubmit = useMay("submit");
  const queries = useQueryClient();
  const [query, setQuery] = useSearchParams();
  const open = query.get("open");
  const setOpen = (name: string | null) => setQuery(name === null ? {} : { open: name }, { replace: true });
  const { data, error } = useQuery({
    queryKey: ["schedules"],
    queryFn: () => told(api.GET("/api/v1/schedules")),
    refetchInterval: POLL_MS,
  });
  const act = useOneAtATime({
    mutationFn: ({ name, action }: { name: string; action: Action }) => acted(name, action),
    // Until the page shows the run: the second click of two is not another run.
    onSettled: () => queries.invalidateQueries({ queryKey: ["schedules"] }),
    meta: { done: ({ name, action }: { name: string; action: Action }) => `${name} ${DONE[action]}.` },
  });
  const onAct = (name: string, action: Action) => {
    if (action === "remove") {
      if (!window.confirm(`Remove the schedule ${name} and its history?`)) return;
      if (name === open) setOpen(null);
    }
    if (action === "run" && !window.confirm(`Run the schedule ${name} now?`)) return;
    act.mutate({ name, action });
  };
  return (
    <>
      <div className="spread">
        <h1>Schedules</h1>
        {maySubmit && (
          <Link className="button" to="/schedules/new">
            New
          </Link>
        )}
      </div>
      <ErrorBox error={error ?? act.error} />
      {data === undefined && error === null && <Loading />}
      {data?.schedules.length === 0 && (
        <Empty>
          <p>
            No schedules yet. A schedule runs an application at its times, such as every night;{" "}
            <code>zoe schedule add</code> adds one, too.
          </p>
          {maySubmit && <Link to="/schedules/new">Make a schedule</Link>}
        </Empty>
      )}
      {data !== undefined && data.schedules.length > 0 && (
        <div className="card">
          <Table headings={["Name", "Times", "Runs", "Next", "Last", { text: "Actions", hidden: true }]}>
            {data.schedules.map((one) => (
              <Row
                key={one.name}
                one={one}
                may={maySubmit}
                busy={act.isPending}
                onAct={onAct}
                onOpen={setOpen}
              />
            ))}
          </Table>
        </div>
      )}
      {open !== null && <Details name={open} may={maySubmit} />}
      <StoredApplications />
    </>
  );
}

function acted(name: string, action: Action): Promise<unknown> {
  const params = { path: { name } };
  if (action === "remove") return told(api.DELETE("/api/v1/schedules/{name}", { params }));
  if (action === "hold") return told(api.POST("/api/v1/schedules/{name}/hold", { params }));
  if (action === "release") return told(api.POST("/api/v1/schedules/{name}/release", { params }));
  const header = { "idempotency-key": randomKey() };
  return told(api.POST("/api/v1/schedules/{name}/run", { params: { ...params, header } }));
}

interface RowProps {
  one: Schedule;
  may: boolean;
  busy: boolean;
  onAct: (name: string, action: Action) => void;
  onOpen: (name: string) => void;
}

function Row({ one, may, busy, onAct, onOpen }: RowProps) {
  const hold = one.held ? "release" : "hold";
  return (
    <tr>
      <td>
        <button type="button" className="link" onClick={() => onOpen(one.name)}>
          {one.name}
        </button>
      </td>
      <td>
        <code>{one.expression}</code> {one.zone}
      </td>
      <td>{one.application ?? "its own description"}</td>
      <td>{one.held ? "held" : one.next_at_s === null ? "none" : moment(one.next_at_s)}</td>
      <td>{one.last === null ? "" : <Came run={one.last} />}</td>
      <td>
        {may && (
          <span className="row">
            <button
              type="button"
              disabled={busy}
              aria-label={`Run now: ${one.name}`}
              onClick={() => onAct(one.name, "run")}
            >
              Run now
            </button>
            <button
              type="button"
              disabled={busy}
              aria-label={`${hold} ${one.name}`}
              onClick={() => onAct(one.name, hold)}
            >
              {one.held ? "Release" : "Hold"}
            </button>
            <Link className="button" to={`/schedules/${one.name}/edit`} aria-label={`Change ${one.name}`}>
              Change
            </Link>
            <button
              type="button"
              className="danger"
              aria-label={`Remove ${one.name}`}
              onClick={() => onAct(one.name, "remove")}
            >
              Remove
            </button>
          </span>
        )}
      </td>
    </tr>
  );
}

function Came({ run }: { run: Schemas["ScheduleRunView"] }) {
  const place = placeOf(run);
  return place === null ? outcome(run) : <Link to={place}>{outcome(run)}</Link>;
}

function Details({ name, may }: { name: string; may: boolean }) {
  const { data, error } = useQuery({
    queryKey: ["schedules", name],
    queryFn: () => told(api.GET("/api/v1/schedules/{name}", { params: { path: { name } } })),
    refetchInterval: POLL_MS,
  });
  return (
    <section className="card" aria-label={`Schedule ${name}`}>
      <h2>{name}</h2>
      <ErrorBox error={error} />
      {data && (
        <>
          <p>
            Missed times: {data.missed}. While an earlier run goes on: {data.overlap}. Next:{" "}
            {data.next_times_s.map(moment).join(", ") || "none"}
          </p>
          {wished(data) && <p>{wished(data)}</p>}
          {data.document && (
            <Fold
              title={`What it runs${data.indices ? `, for the indices ${data.indices}` : ""}`}
              filled={false}
            >
              <pre className="wrap">{JSON.stringify(data.document, null, 2)}</pre>
            </Fold>
          )}
          {may && <Backfill key={name} name={name} />}
          {data.runs.length === 0 && <p className="faint">It has not run yet.</p>}
          <Table headings={["Due", "At", "Outcome"]}>
            {data.runs.map((run) => (
              <tr key={`${run.due_s}/${run.at_s}/${run.run_id}`}>
                <td className="time">{run.due_s === null ? "by hand" : moment(run.due_s)}</td>
                <td className="time">{moment(run.at_s)}</td>
                <td>
                  <Came run={run} />
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </section>
  );
}
