import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useSession } from "../../api/session";
import { useSending } from "../../api/submission";
import { ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { mainWay, openPort } from "../execution/ports";
import { launched } from "./launching";
import { readSettings } from "./settings";

type Entry = Schemas["CatalogueEntryView"];
type Summary = Schemas["ExecutionSummary"];

const LOOK_EVERY_MS = 5000;
const LIVE = ["submitted", "queued", "starting", "running"] as const;
/** The entry that a new notebook comes from. */
const ENTRY = "python-notebook";

/** The way back into what one works in, by one click; or the start of a notebook. */
export function MyNotebook({ entries }: { entries: Entry[] }) {
  const { user } = useSession();
  const { data } = useQuery({
    queryKey: ["executions", "interactive", user],
    queryFn: () => told(api.GET("/api/v1/executions", { params: { query: { state: [...LIVE], user } } })),
    refetchInterval: LOOK_EVERY_MS,
  });
  const entry = entries.find((one) => one.id === ENTRY && !one.unavailable);
  const mine = data?.executions.filter((one) => one.kind === "interactive") ?? [];
  if (data === undefined || (mine.length === 0 && !entry)) return null;
  return (
    <section className="card" aria-label="My notebook">
      <h2>My notebook</h2>
      {mine.map((one) => (
        <Live key={one.id} summary={one} />
      ))}
      {mine.length === 0 && entry && <Start entry={entry} />}
    </section>
  );
}

function Live({ summary }: { summary: Summary }) {
  const { data } = useQuery({
    queryKey: ["execution", summary.id],
    queryFn: () =>
      told(api.GET("/api/v1/executions/{execution_id}", { params: { path: { execution_id: summary.id } } })),
    refetchInterval: LOOK_EVERY_MS,
  });
  const way = data ? mainWay(data) : null;
  const open = useMutation({
    mutationFn: ({ service, port }: { service: string; port: string }) => openPort(summary.id, service, port),
  });
  return (
    <>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={!way?.service}
          aria-label={`Open ${summary.name}`}
          onClick={() => way?.service && open.mutate({ service: way.service.id, port: way.port })}
        >
          Open
        </button>
        <Link to={`/executions/${summary.id}`}>{summary.name}</Link>
        <StateBadge state={summary.state} />
        {!way?.service && summary.reason && <span>{summary.reason.sentence}</span>}
      </div>
      <ErrorBox error={open.error} />
    </>
  );
}

function Start({ entry }: { entry: Entry }) {
  const start = useSending(
    async (keyOf) => (await launched(entry, readSettings(entry, new URLSearchParams()), keyOf)).address,
  );
  return (
    <>
      <div className="row">
        <button type="button" className="primary" disabled={start.busy} onClick={start.submit}>
          Start my notebook
        </button>
        <span className="faint">
          {entry.title}, in your workspace.{" "}
          {entry.installs && `The first launch installs ${entry.installs}. `}
          When it ends, files stay and variables are lost.
        </span>
      </div>
      <ErrorBox error={start.error} />
    </>
  );
}
