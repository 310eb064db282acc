import { Link } from "react-router";
import { plain } from "./log-lines";
import type { Execution } from "./types";
import { useLog } from "./use-log";

const LINES = 10;

/** The end of the output of the service that failed, for an execution that did. */
export function LastLines({ execution }: { execution: Execution }) {
  const service = execution.state === "failed" ? failedService(execution) : undefined;
  return service && <Lines executionId={execution.id} serviceId={service.id} name={service.name} />;
}

function Lines({ executionId, serviceId, name }: { executionId: string; serviceId: string; name: string }) {
  const { lines, complete } = useLog(executionId, serviceId);
  const last = lines.slice(-LINES).map(plain);
  if (!complete || last.length === 0) return null;
  return (
    <section className="card" aria-label="Last lines of the output">
      <p className="spread">
        <span>
          Last lines of <code>{name}</code>
        </span>
        <Link to={`/executions/${executionId}/logs?service=${encodeURIComponent(serviceId)}`}>
          All output
        </Link>
      </p>
      <pre className="preview">{last.join("\n")}</pre>
    </section>
  );
}

/** The one that the message names, else the first of the last attempt that failed by itself. */
function failedService({ message, services }: Execution) {
  const named = message.split(" ");
  const failed = services.filter((one) => one.exit_code && one.started_at_s && one.cause !== "stopped");
  failed.sort(
    (a, b) =>
      b.attempt - a.attempt ||
      Number(named.includes(b.name)) - Number(named.includes(a.name)) ||
      (a.ended_at_s ?? 0) - (b.ended_at_s ?? 0),
  );
  return failed[0];
}
