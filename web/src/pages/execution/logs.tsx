import { useSearchParams } from "react-router";
import { Empty } from "../../components/feedback";
import { LogView } from "./log-view";
import type { Execution } from "./types";

export function LogsTab({ execution }: { execution: Execution }) {
  const [query, setQuery] = useSearchParams();
  const services = [...execution.services].sort(
    (a, b) => b.attempt - a.attempt || a.name.localeCompare(b.name),
  );
  const ending = services.find((service) => service.core);
  const chosen =
    services.find((service) => service.id === query.get("service")) ?? mainOf(execution) ?? ending;
  if (chosen === undefined) return <Empty>No service is placed yet, so there is no output.</Empty>;
  return (
    <section className="card" aria-label="Output">
      <div className="row">
        <label>
          Output of{" "}
          <select
            value={chosen.id}
            onChange={(e) => setQuery({ service: e.target.value }, { replace: true })}
          >
            {services.map((service) => (
              <option key={service.id} value={service.id}>
                {service.name}
                {service.attempt > 1 ? ` (try ${service.attempt})` : ""} {service.state}
              </option>
            ))}
          </select>
        </label>
      </div>
      <LogView key={chosen.id} executionId={execution.id} serviceId={chosen.id} name={chosen.name} />
    </section>
  );
}

/** The service whose end is the application's, which is the one people look for. */
function mainOf(execution: Execution) {
  const components = execution.description.components;
  if (!Array.isArray(components)) return undefined;
  const main = (components as { name?: string; ends_application?: boolean }[]).find(
    (c) => c.ends_application,
  );
  return [...execution.services].reverse().find((service) => service.component === main?.name);
}
