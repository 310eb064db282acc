import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { num, Table } from "../../components/table";
import { bytes, moment } from "../../format";
import { rulesText, stretches, totalOf, within } from "./store-spans";

type Ran = Schemas["ExecutionStorageView"];
const ASK_AGAIN_MS = 10_000;
const WIDTH = 300;
const HEIGHT = 12;

/** The executions of a tenant on the time axis of its plot: when each ran, when it moved bytes, how many, by which rules. */
export function StoreExecutions({ tenant, fromS, toS }: { tenant: string; fromS: number; toS: number }) {
  const { data } = useQuery({
    queryKey: ["storage-history", tenant, Math.round(toS - fromS)],
    queryFn: () =>
      told(api.GET("/api/v1/storage/history", { params: { query: { tenant, from_s: fromS, to_s: toS } } })),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  // Other controllers keep no history.
  if (!data) return null;
  if (data.executions.length === 0)
    return <p className="faint">No execution of {tenant} used the store in this period.</p>;
  return (
    <section className="card" aria-label={`Executions of ${tenant} at the store`}>
      <Table
        headings={[
          "Execution",
          num("Read"),
          num("Written"),
          "Rules",
          `From ${moment(data.from_s)} to ${moment(data.to_s)}`,
        ]}
      >
        {data.executions.map((one) => (
          <tr key={one.execution_id}>
            <td className="long">
              <Link to={`/executions/${one.execution_id}/charts`}>{one.name}</Link> of {one.user}
            </td>
            <td className="num">{bytes(totalOf(one.points, "read_bytes"))}</td>
            <td className="num">{bytes(totalOf(one.points, "written_bytes"))}</td>
            <td className="long">{rulesText(one.rules)}</td>
            <td>
              <Bar ran={one} fromS={data.from_s} toS={data.to_s} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Bar({ ran, fromS, toS }: { ran: Ran; fromS: number; toS: number }) {
  const run = within(ran.placed_s ?? fromS, ran.ended_s ?? toS, fromS, toS, WIDTH);
  const moved = stretches(ran.points, ran.stretch_s).map(([from, to]) => within(from, to, fromS, toS, WIDTH));
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${ran.name} ran ${ran.placed_s ? `from ${moment(ran.placed_s)}` : ""}${ran.ended_s ? ` to ${moment(ran.ended_s)}` : " until now"}, and moved bytes in ${moved.length} of its stretches`}
    >
      <rect x={run.x} y={4} width={run.width} height={4} fill="currentColor" opacity={0.35} />
      {moved.map((one) => (
        <rect key={one.x} x={one.x} y={0} width={one.width} height={HEIGHT} fill="#2f5fd0" />
      ))}
    </svg>
  );
}
