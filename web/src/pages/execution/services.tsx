import { useState } from "react";
import { Link } from "react-router";
import type { Schemas } from "../../api/client";
import { useMay } from "../../api/session";
import { Empty, ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { duration, moment } from "../../format";
import { mainWay, openPort, proxiedPorts } from "./ports";
import type { Execution } from "./types";

type Service = Schemas["ServiceView"];

export function ServicesTab({ execution }: { execution: Execution }) {
  const [problem, setProblem] = useState<unknown>(null);
  const services = [...execution.services].sort((a, b) => b.attempt - a.attempt);
  if (services.length === 0) return <Empty>No service is placed yet.</Empty>;
  return (
    <>
      <ErrorBox error={problem} />
      <div className="card">
        <Table
          headings={["Service", "Kind", "State", "Node", num("Ready after"), "Ended", "Ways in"]}
          stacked
        >
          {services.map((service) => (
            <Row key={service.id} execution={execution} service={service} onProblem={setProblem} />
          ))}
        </Table>
      </div>
    </>
  );
}

interface RowProps {
  execution: Execution;
  service: Service;
  onProblem: (problem: unknown) => void;
}

function Row({ execution, service, onProblem }: RowProps) {
  const may = useMay("submit") && execution.access !== "look";
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
      </td>
      <td className="row">
        <Link to={`/executions/${execution.id}/logs?service=${service.id}`}>Logs</Link>
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
