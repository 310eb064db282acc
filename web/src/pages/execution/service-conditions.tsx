import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../api/client";
import { Table } from "../../components/table";
import type { Execution } from "./types";

const ASK_AGAIN_MS = 3_000;

/** The services of a placed execution that do not run as they should, and why. */
export function ServiceConditions({ execution }: { execution: Execution }) {
  const placed = ["starting", "running", "stopping"].includes(execution.state);
  const { data: why } = useQuery({
    queryKey: ["execution", execution.id, "explain"],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/explain", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    refetchInterval: ASK_AGAIN_MS,
    enabled: placed,
  });
  const services = why?.services ?? [];
  if (!placed || services.length === 0) return null;
  return (
    <section className="card" aria-label="Services that do not run as they should">
      <Table headings={["Service", "Node", "Condition"]}>
        {services.map((one) => (
          <tr key={`${one.service_id}/${one.state}`}>
            <td>{one.name}</td>
            <td>{one.node ?? ""}</td>
            <td>
              {one.sentence}
              {one.detail && <p className="faint">{one.detail}</p>}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
