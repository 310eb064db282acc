import { useState } from "react";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Empty, ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { duration, moment } from "../../format";
import { proxiedPorts } from "./ports";
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
        <Table headings={["Service", "Kind", "State", "Node", num("Ready after"), "Ended", "Ways in"]}>
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
  const may = useMay("submit");
  const ports = may && service.state === "ready" ? proxiedPorts(execution, service.component) : [];
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
            className="primary"
            onClick={() => void openPort(execution.id, service.id, port).catch(onProblem)}
          >
            Open {port}
          </button>
        ))}
      </td>
    </tr>
  );
}

/** Into a running application, in a page of its own and with nothing of this one's rights. */
async function openPort(executionId: string, serviceId: string, port: string): Promise<void> {
  // Opened within the click, or the browser takes it for a pop-up that nobody asked for.
  const page = window.open("", "_blank");
  if (page) page.opener = null;
  try {
    const path = { execution_id: executionId, service_id: serviceId, port };
    const { url } = await told(
      api.POST("/api/v1/executions/{execution_id}/services/{service_id}/ports/{port}/open", {
        params: { path },
      }),
    );
    if (page) page.location.replace(url);
    else window.location.assign(url);
  } catch (error) {
    page?.close();
    throw error;
  }
}
