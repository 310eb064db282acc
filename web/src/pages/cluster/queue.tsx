import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { useNow } from "../../components/now";
import { num, Table } from "../../components/table";
import { counted, duration, moment } from "../../format";

const ASK_AGAIN_MS = 5_000;

/** The queue as the policy in force looks at it, with why each waits. */
export function QueueTab() {
  const { data, error, isLoading } = useQuery({
    queryKey: ["queue"],
    queryFn: readQueue,
    refetchInterval: ASK_AGAIN_MS,
  });
  const now = useNow(5_000);
  if (isLoading) return <Loading what="Computing" />;
  if (error) return <ErrorBox error={error} />;
  if (!data || data.rows.length === 0) return <Empty>No executions wait.</Empty>;
  return (
    <>
      <p className="faint">
        {counted(data.waiting, "execution")} waiting, in the order of the policy ({data.order})
        {data.waiting > data.rows.length && `; the first ${data.rows.length} are shown`}.
      </p>
      <div className="card">
        <Table headings={[num("#"), "Execution", "Tenant", "User", num("Waits for"), num("By (p90)"), "Why"]}>
          {data.rows.map((row, index) => (
            <tr key={row.id}>
              <td className="num">{index + 1}</td>
              <td>
                <Link to={`/executions/${row.id}`}>{row.name}</Link>
              </td>
              <td>{row.tenant}</td>
              <td>{row.user}</td>
              <td className="num">{duration(now - row.submitted_at_s)}</td>
              <td className="time">{startText(row.forecast?.start_p90_s ?? null, now)}</td>
              <td>{row.reason?.sentence}</td>
            </tr>
          ))}
        </Table>
      </div>
    </>
  );
}

function startText(byS: number | null, nowS: number): string {
  if (byS === null) return "";
  return byS > nowS ? moment(byS) : "soon";
}

async function readQueue() {
  const [policy, status] = await Promise.all([
    told(api.GET("/api/v1/policy")),
    told(api.GET("/api/v1/status")),
  ]);
  const { present } = await told(api.POST("/api/v1/policy/dry-run", { body: policy }));
  const rows = await readInOrder(present.first);
  const waiting = (status.executions.queued ?? 0) + (status.executions.submitted ?? 0);
  return { rows, waiting, order: policy.order };
}

/** Executions of all tenants, in the order of their ids as given. */
export async function readInOrder(ids: string[]): Promise<Schemas["ExecutionSummary"][]> {
  if (ids.length === 0) return [];
  const query = { id: ids.slice(0, 100), all_tenants: true, limit: 100 };
  const { executions } = await told(api.GET("/api/v1/executions", { params: { query } }));
  const byId = new Map(executions.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
