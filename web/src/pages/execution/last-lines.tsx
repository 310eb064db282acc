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

/** The one whose end is the application's if it failed, else the first that failed, of the last attempt. */
function failedService({ description, services }: Execution) {
  const components = Array.isArray(description.components) ? description.components : [];
  const main = (components as { name?: string; ends_application?: boolean }[]).find(
    (c) => c.ends_application,
  );
  const failed = services.filter((one) => one.exit_code && one.started_at_s);
  failed.sort(
    (a, b) =>
      b.attempt - a.attempt ||
      Number(b.component === main?.name) - Number(a.component === main?.name) ||
      (a.ended_at_s ?? 0) - (b.ended_at_s ?? 0),
  );
  return failed[0];
}
