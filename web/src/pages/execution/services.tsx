import { lazy, Suspense, useState } from "react";
import { Link } from "react-router";
import type { Schemas } from "../../api/client";
import { useMay, useSession } from "../../api/session";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { duration, moment } from "../../format";
import { mainWay, openPort, proxiedPorts } from "./ports";
import type { Execution } from "./types";

type Service = Schemas["ServiceView"];

const TerminalDialog = lazy(() => import("./terminal/dialog"));

export function ServicesTab({ execution }: { execution: Execution }) {
  const [problem, setProblem] = useState<unknown>(null);
  const [inTerminal, setInTerminal] = useState<Service | null>(null);
  const services = [...execution.services].sort((a, b) => b.attempt - a.attempt);
  if (services.length === 0) return <Empty>No service is placed yet.</Empty>;
  return (
    <>
      <ErrorBox error={problem} />
      <div className="card">
        <Table headings={["Service", "Kind", "State", "Node", num("Ready after"), "Ended", "Ways in"]}>
          {services.map((service) => (
            <Row
              key={service.id}
              execution={execution}
              service={service}
              onTerminal={() => setInTerminal(service)}
              onProblem={setProblem}
            />
          ))}
        </Table>
      </div>
      {inTerminal && (
        <Suspense fallback={<Loading what="Opening a terminal" />}>
          <TerminalDialog
            executionId={execution.id}
            service={inTerminal}
            onClose={() => setInTerminal(null)}
          />
        </Suspense>
      )}
    </>
  );
}

interface RowProps {
  execution: Execution;
  service: Service;
  onTerminal: () => void;
  onProblem: (problem: unknown) => void;
}

/** Operators are no exception: a terminal runs as the owner. */
function useMayControl(execution: Execution): boolean {
  const { user, tenant } = useSession();
  const operates = useMay("operate");
  const owns = user === execution.user && tenant === execution.tenant;
  return useMay("submit") && (owns || (execution.access === "control" && !operates));
}

function Row({ execution, service, onTerminal, onProblem }: RowProps) {
  const may = useMay("submit") && execution.access !== "look";
  const mayControl = useMayControl(execution);
  const main = mainWay(execution);
  // The page leads with the main one already.
  const ports = proxiedPorts(execution, service.component).filter(
    (port) => may && service.state === "ready" && !(main?.service?.id === service.id && main.port === port),
  );
  return (
    <tr>
      <td>
        {service.name}
        {service.attempt > 1 && <span className="faint"> try {service.attempt}</span>}
      </td>
      <td>{service.core ? "essential" : "elastic"}</td>
      <td>
        <StateBadge state={service.state} />
      </td>
      <td>{service.node ?? ""}</td>
      <td className="num">
        {service.ready_at_s !== null && service.started_at_s !== null
          ? duration(service.ready_at_s - service.started_at_s)
          : ""}
      </td>
      <td>
        {service.ended_at_s !== null && <span className="num">{moment(service.ended_at_s)} </span>}
        {service.cause && <code>{service.cause}</code>}
        {service.exit_code !== null && ` (${service.exit_code})`} {service.message}
        {service.left_files && (
          <p className="faint">Removed with its scratch directory: {service.left_files}</p>
        )}
      </td>
      <td className="row">
        <Link to={`/executions/${execution.id}/logs?service=${service.id}`}>Logs</Link>
        {mayControl && service.state === "ready" && (
          <button type="button" onClick={onTerminal} aria-label={`Terminal in ${service.name}`}>
            Terminal
          </button>
        )}
        {ports.map((port) => (
          <button
            key={port}
            type="button"
            onClick={() => void openPort(execution.id, service.id, port).catch(onProblem)}
          >
            Open {port}
          </button>
        ))}
      </td>
    </tr>
  );
}
