import { Link } from "react-router";
import { useOutage } from "../../api/outage";
import type { Link as StreamLink } from "../../api/stream";
import { useNow } from "../../components/now";
import { RunsAfter, UnitLink } from "../../components/runs-after";
import { StateBadge } from "../../components/state";
import { deadlineInFull, deadlineSentence } from "../../deadline";
import { moment } from "../../format";
import { movedText } from "./moved";
import { placesText } from "./places";
import { stateSentence } from "./sentence";
import type { Execution } from "./types";

/** Name, state in a sentence, and what is to be said of it. */
export function Summary({ execution, link }: { execution: Execution; link: StreamLink }) {
  const now = useNow();
  const away = useOutage();
  const over = execution.outcome !== null && execution.state !== "stopping";
  const late = deadlineSentence(execution.deadline);
  const waits = execution.state === "submitted" || execution.state === "queued";
  const live = link === "live" && !away;
  return (
    <div className="lead">
      <h1>{execution.name}</h1>
      <p className="row">
        <StateBadge state={execution.state} />
        <span>{stateSentence(execution, now)}</span>
        {!over && (
          <span className={`live ${live ? "on" : ""}`}>
            {live ? "live" : away ? "no connection, retrying" : "connecting"}
          </span>
        )}
      </p>
      {execution.message && (
        <p className={`notice ${execution.outcome === "failed" ? "bad" : ""}`}>
          {execution.cause && !execution.message.startsWith(execution.cause) && (
            <code>{execution.cause}</code>
          )}{" "}
          {execution.message}
        </p>
      )}
      {late && <p className={`notice ${execution.deadline?.status === "missed" ? "bad" : ""}`}>{late}</p>}
      {execution.notes.map((note) => (
        <p className={waits ? "notice" : "faint"} key={note}>
          {waits ? note : `When it was submitted: ${note}`}
        </p>
      ))}
      {execution.inputs?.map((input) => (
        <p className={`notice ${input.unanswered ? "bad" : ""}`} key={input.name}>
          Input <code>{input.name}</code> is read{" "}
          {input.view ? `through a view (${input.columns.join(", ")})` : "plainly"}: {input.why}
          {input.unanswered && ". This may be slower."}
        </p>
      ))}
      {execution.places?.map((one) => (
        <p className="faint" key={one.name}>
          Input <code>{one.name}</code>: {placesText(one)}
        </p>
      ))}
      {execution.scaling_problem && <p className="notice bad">Scaling: {execution.scaling_problem}</p>}
      {execution.storage_problem && (
        <p className="notice">
          The bandwidth of the object store that it asks for {over ? "was" : "is"} not granted
          {over ? " at its end" : execution.marks.storage_withdrawn && " any more"}:{" "}
          {execution.storage_problem}
        </p>
      )}
    </div>
  );
}

/** What is seldom asked for, below the rest. */
export function Details({ execution }: { execution: Execution }) {
  return (
    <details className="card">
      <summary>Details</summary>
      <dl className="facts">
        <dt>Id</dt>
        <dd className="mono">{execution.id}</dd>
        <dt>Application</dt>
        <dd>{execution.application}</dd>
        <dt>User</dt>
        <dd>
          {execution.user} of {execution.tenant}
        </dd>
        <dt>Submitted</dt>
        <dd>{moment(execution.submitted_at_s)}</dd>
        {execution.transfers && (
          <>
            <dt>Moved</dt>
            <dd>{movedText(execution.transfers)}</dd>
          </>
        )}
        {execution.attempt > 1 && (
          <>
            <dt>Try</dt>
            <dd>{execution.attempt}</dd>
          </>
        )}
        {execution.submitted_by && (
          <>
            <dt>Submitted by</dt>
            <dd>
              job{" "}
              <Link to={`/executions/${execution.submitted_by.execution_id}`}>
                {execution.submitted_by.execution_id}
              </Link>
              , attempt {execution.submitted_by.attempt}
            </dd>
          </>
        )}
        {execution.submitted.length > 0 && (
          <>
            <dt>Submitted</dt>
            <dd>
              {execution.submitted.map((one) => (
                <div key={one}>
                  <UnitLink id={one} />
                </div>
              ))}
            </dd>
          </>
        )}
        {execution.conditions && execution.conditions.after.length > 0 && (
          <>
            <dt>Runs after</dt>
            <dd>
              <RunsAfter after={execution.conditions.after} />
            </dd>
          </>
        )}
        {execution.conditions?.begin_at_s && (
          <>
            <dt>Begins</dt>
            <dd>{moment(execution.conditions.begin_at_s)} or later</dd>
          </>
        )}
        {execution.priority !== 0 && (
          <>
            <dt>Priority</dt>
            <dd>{execution.priority}</dd>
          </>
        )}
        {execution.deadline && (
          <>
            <dt>Deadline</dt>
            <dd>{deadlineInFull(execution.deadline)}</dd>
          </>
        )}
      </dl>
    </details>
  );
}
