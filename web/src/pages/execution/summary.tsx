import type { Link as StreamLink } from "../../api/stream";
import { StateBadge } from "../../components/state";
import { moment } from "../../format";
import { placesText } from "./places";
import type { Execution } from "./types";

export function Summary({ execution, link }: { execution: Execution; link: StreamLink }) {
  const over = execution.outcome !== null && execution.state !== "stopping";
  return (
    <div>
      <h1>{execution.name}</h1>
      <p className="row">
        <StateBadge state={execution.state} />
        {!over && (
          <span className={`live ${link === "live" ? "on" : ""}`}>
            {link === "live" ? "live" : "connecting"}
          </span>
        )}
        <span className="faint">
          {execution.application} · {execution.user} of {execution.tenant} · submitted{" "}
          {moment(execution.submitted_at_s)}
          {execution.attempt > 1 && ` · try ${execution.attempt}`}
          {execution.priority !== 0 && ` · priority ${execution.priority}`}
          {execution.deadline_s !== null && ` · deadline ${moment(execution.deadline_s)}`}
        </span>
      </p>
      {execution.message && (
        <p className={`notice ${execution.outcome === "failed" ? "bad" : ""}`}>
          {execution.cause && <code>{execution.cause}</code>} {execution.message}
          {execution.exit_code !== null && ` (exit code ${execution.exit_code})`}
        </p>
      )}
      {execution.notes.map((note) => (
        <p className="notice" key={note}>
          {note}
        </p>
      ))}
      {execution.inputs?.map((input) => (
        <p className="notice" key={input.name}>
          Input <code>{input.name}</code> is read{" "}
          {input.view ? `through a view (${input.columns.join(", ")})` : "plainly"}: {input.why}
        </p>
      ))}
      {execution.places?.map((one) => (
        <p className="faint" key={one.name}>
          Input <code>{one.name}</code>: {placesText(one)}
        </p>
      ))}
      {execution.storage_problem && (
        <p className="notice">
          The bandwidth of the object store that it asks for {over ? "was" : "is"} not granted
          {over ? " at its end" : execution.marks.storage_withdrawn && " any more"}:{" "}
          {execution.storage_problem}
        </p>
      )}
      <p className="faint mono">{execution.id}</p>
    </div>
  );
}
