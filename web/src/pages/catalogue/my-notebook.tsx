import { useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useSession } from "../../api/session";
import { useSending } from "../../api/submission";
import { ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { moment } from "../../format";
import { idleEndS, idleSentence, limitEndS } from "../execution/idle";
import { mainWay, openPort, type Way } from "../execution/ports";
import type { Execution } from "../execution/types";
import { launched } from "./launching";
import { readSettings } from "./settings";

type Entry = Schemas["CatalogueEntryView"];

const LOOK_EVERY_MS = 5000;
const LIVE: Schemas["ExecutionState"][] = ["submitted", "queued", "starting", "running"];
/** The entry that a new notebook comes from. */
const ENTRY = "python-notebook";

/** The way back into what one works in, by one click; or the start of a notebook. */
export function MyNotebook({ entries }: { entries: Entry[] }) {
  const mine = useMine();
  const { data: policy } = useQuery({
    queryKey: ["policy"],
    queryFn: () => told(api.GET("/api/v1/policy")),
  });
  const entry = entries.find((one) => one.id === ENTRY && !one.unavailable);
  if (mine === null || (mine.length === 0 && !entry)) return null;
  return (
    <section className="card" aria-label="My notebook">
      <h2>My notebook</h2>
      {mine.map(({ execution, way }) => (
        <Live
          key={execution.id}
          execution={execution}
          way={way}
          endS={policy ? idleEndS(execution, policy) : null}
        />
      ))}
      {mine.length === 0 && entry && <Start entry={entry} />}
      {policy && (
        <p className="faint">
          {idleSentence(policy)} When it ends, files stay in your workspace and variables are lost.
        </p>
      )}
    </section>
  );
}

/** As `Client.notebook`: interactive executions with a page that have not ended, newest first; null: not known yet. */
function useMine(): { execution: Execution; way: Way }[] | null {
  const { user } = useSession();
  const query = { state: LIVE, kind: "interactive" as const, user };
  const { data } = useQuery({
    queryKey: ["executions", "interactive", user],
    queryFn: () => told(api.GET("/api/v1/executions", { params: { query } })),
    refetchInterval: LOOK_EVERY_MS,
  });
  const found = useQueries({
    queries: (data?.executions ?? []).map(({ id }) => ({
      queryKey: ["execution", id],
      queryFn: () =>
        told(api.GET("/api/v1/executions/{execution_id}", { params: { path: { execution_id: id } } })),
      refetchInterval: LOOK_EVERY_MS,
    })),
  });
  if (data === undefined || found.some((one) => one.isLoading)) return null;
  return found.flatMap(({ data: execution }) => {
    const way = execution ? mainWay(execution) : null;
    return execution && way ? [{ execution, way }] : [];
  });
}

interface LiveProps {
  execution: Execution;
  way: Way;
  /** When it is ended unless somebody uses it. */
  endS: number | null;
}

function Live({ execution, way: { service, port }, endS }: LiveProps) {
  const limitS = limitEndS(execution);
  const open = useMutation({
    mutationFn: (ready: string) => openPort(execution.id, ready, port),
  });
  return (
    <>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={!service}
          aria-label={`Open ${execution.name}`}
          onClick={() => service && open.mutate(service.id)}
        >
          Open
        </button>
        <Link to={`/executions/${execution.id}`}>{execution.name}</Link>
        <StateBadge state={execution.state} />
        {!service && execution.reason && <span>{execution.reason.sentence}</span>}
        {endS !== null && <span>Nobody uses it: it is ended at {moment(endS)}.</span>}
        {limitS !== null && <span className="faint">Its time limit ends it at {moment(limitS)}.</span>}
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
          {entry.title}, in your workspace.
          {entry.installs && ` The first launch installs ${entry.installs}.`}
        </span>
      </div>
      <ErrorBox error={start.error} />
    </>
  );
}
