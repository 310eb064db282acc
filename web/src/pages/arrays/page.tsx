import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { CancelDialog } from "../../components/cancel-dialog";
import { ErrorBox, Loading, NoPage } from "../../components/feedback";
import { Hint } from "../../components/hint";
import { useOneAtATime } from "../../components/one-at-a-time";
import { RunsAfter, UnitLink } from "../../components/runs-after";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { WholePromise } from "../../components/whole-promise";
import { moment, number } from "../../format";
import { CancelIndices } from "./cancel-indices";
import { activeStates, countsText, INDEX_STATES } from "./counts";
import { FoundIndices } from "./indices";

const LOOK_EVERY_MS = 2000;

type Action = "cancel" | "hold" | "release" | "requeue";
type View = Schemas["ArrayView"];
const DONE = {
  cancel: "The array is cancelled.",
  hold: "The array is held.",
  release: "The array is released.",
  requeue: "What failed or was cancelled is queued again.",
};

/** Indices with executions, those that may need a look first. */
const LISTED = ["failed", "active", "succeeded", "cancelled"] as const;

/** One array: how many indices are in each state and which, what failed, and what can be done with the whole. */
export default function ArrayPage() {
  const { arrayId = "" } = useParams();
  const maySubmit = useMay("submit");
  const queries = useQueryClient();
  const { data: array, error } = useQuery({
    queryKey: ["array", arrayId],
    queryFn: () => told(api.GET("/api/v1/arrays/{array_id}", { params: { path: { array_id: arrayId } } })),
    refetchInterval: (query) => (query.state.data?.ended_at_s ? false : LOOK_EVERY_MS),
  });
  const act = useOneAtATime({
    mutationFn: (action: Action) =>
      told(api.POST(`/api/v1/arrays/{array_id}/${action}`, { params: { path: { array_id: arrayId } } })),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["array", arrayId] });
      void queries.invalidateQueries({ queryKey: ["indices", arrayId] });
    },
    meta: { done: (action: Action) => DONE[action] },
  });
  if (error && !array) return <NoPage title="Array" error={error} />;
  if (!array) return <Loading what="Reading the array" />;
  return (
    <>
      <div className="spread">
        <div>
          <h1>
            {array.name} <StateBadge state={array.state} />
          </h1>
          <p className="faint">
            {number(array.size)} {array.size === 1 ? "index" : "indices"}, {array.indices.slice(0, 100)}
            {array.at_once_max ? `, ${number(array.at_once_max)} at once` : ""}; {array.user} in{" "}
            {array.tenant}, submitted {moment(array.submitted_at_s)}
          </p>
        </div>
        <Actions array={array} busy={act.isPending} onAct={act.mutate} />
      </div>
      <ErrorBox error={act.error ?? error} />
      {(array.message || array.cause) && <p>{endText(array)}</p>}
      {array.reason && (
        <p>
          {array.active_states?.running ? "Others wait: " : ""}
          {array.reason.sentence}
        </p>
      )}
      <Hint hint={array.reason?.hint} />
      <Dependencies array={array} />
      <WholePromise
        promise={array.promise}
        open={array.ended_at_s === null}
        cancelled={array.state === "cancelled"}
        accept={(offer) =>
          told(
            api.POST("/api/v1/arrays/{array_id}/accept", {
              params: { path: { array_id: arrayId } },
              body: { offer },
            }),
          )
        }
        onSettled={() => void queries.invalidateQueries({ queryKey: ["array", arrayId] })}
      />
      <section className="card" aria-label="Progress">
        <h2>Progress</h2>
        <p role="status">{countsText(array.counts, array.active_states)}</p>
        <Table headings={["State", num("Number"), "Indices"]}>
          {INDEX_STATES.filter((state) => array.counts[state]).map((state) => (
            <tr key={state}>
              <td>{(state === "active" && activeStates(array.active_states ?? {})) || state}</td>
              <td className="num">{number(array.counts[state] ?? 0)}</td>
              <td>
                <code className="wrap">{array.ranges[state]}</code>
              </td>
            </tr>
          ))}
        </Table>
        {maySubmit && array.ended_at_s === null && <CancelIndices arrayId={array.id} />}
      </section>
      {LISTED.filter((state) => array.counts[state]).map((state) => (
        <FoundIndices key={state} array={array} state={state} version={array.version} />
      ))}
    </>
  );
}

/** The cause of the end if all its failed indices have the same, and what happened. */
function endText(array: View): string {
  const cause = array.cause === null || array.cause === array.state ? "" : `cause ${array.cause}`;
  return [cause, array.message].filter(Boolean).join(": ");
}

/** What must end before its indices run. */
function Dependencies({ array }: { array: View }) {
  const after = array.conditions?.after ?? [];
  if (after.length + array.corr.length === 0) return null;
  return (
    <dl className="facts">
      <dt>Runs after</dt>
      <dd>
        <RunsAfter after={after} />
        {array.corr.map((one) => (
          <div key={one}>
            each index after the same one of <UnitLink id={one} />
          </div>
        ))}
      </dd>
    </dl>
  );
}

interface ActionsProps {
  array: View;
  busy: boolean;
  onAct: (action: Action) => void;
}

function Actions({ array, busy, onAct }: ActionsProps) {
  const maySubmit = useMay("submit");
  const [asking, setAsking] = useState(false);
  if (!maySubmit) return null;
  const over = array.ended_at_s !== null;
  const failed = (array.counts.failed ?? 0) + (array.counts.cancelled ?? 0);
  const holds = Boolean(array.conditions?.held);
  return (
    <div className="row">
      {failed > 0 && (
        <button type="button" disabled={busy} onClick={() => onAct("requeue")}>
          Run {number(failed)} again
        </button>
      )}
      {!over && (
        <button type="button" disabled={busy} onClick={() => onAct(holds ? "release" : "hold")}>
          {holds ? "Release" : "Hold"}
        </button>
      )}
      {!over && (
        <button type="button" className="danger" disabled={busy} onClick={() => setAsking(true)}>
          Cancel
        </button>
      )}
      <Link className="button" to={`/clone/${array.id}`}>
        Clone and edit
      </Link>
      {asking && (
        <CancelDialog
          names={[array.name]}
          noun="array"
          busy={busy}
          onCancel={() => {
            onAct("cancel");
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
