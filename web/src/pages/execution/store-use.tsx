import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, told } from "../../api/client";
import { Plot } from "../../components/plot";
import { num, Table } from "../../components/table";
import { bytes, rate } from "../../format";
import { ruleName } from "../cluster/store-spans";
import { storeLines } from "./store-lines";
import type { Execution } from "./types";

const ASK_AGAIN_MS = 5_000;

/** What it asked of the object store, which rules its requests met, and its bytes beside its time. */
export function StoreUse({ execution }: { execution: Execution }) {
  const { data } = useQuery({
    queryKey: ["execution-storage", execution.id],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/storage", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    enabled: execution.marks.placed !== undefined,
    refetchInterval: execution.outcome === null ? ASK_AGAIN_MS : false,
    retry: false,
  });
  const fromS = execution.marks.placed ?? 0;
  const toS = execution.marks.ended ?? Date.now() / 1000;
  const lines = useMemo(
    () => storeLines(data?.points ?? [], data?.stretch_s ?? 1, fromS, toS),
    [data, fromS, toS],
  );
  if (!data || data.requests.length === 0) return null;
  return (
    <section className="card" aria-label="Requests at the object store">
      <h2>Requests at the object store</h2>
      <Table headings={["Method", "Container", num("Requests"), num("Refused"), num("Read"), num("Written")]}>
        {data.requests.map((one) => (
          <tr key={`${one.method}/${one.container}`}>
            <td>{one.method}</td>
            <td className="long">{one.container}</td>
            <td className="num">{one.done + one.refused}</td>
            <td className="num">{one.refused}</td>
            <td className="num">{bytes(one.read_bytes)}</td>
            <td className="num">{bytes(one.written_bytes)}</td>
          </tr>
        ))}
      </Table>
      {data.rules.length > 0 && (
        <ul aria-label="Rules that they met">
          {data.rules.map((one) => (
            <li key={`${one.rule}/${one.filter}/${one.way}`}>
              {ruleName(one)}: {one.requests} {one.way === "read" ? "reads" : "writes"}
            </li>
          ))}
        </ul>
      )}
      {data.points.length > 0 && (
        <Plot
          label="Bytes of this execution at the object store"
          times={lines.times}
          series={lines.series}
          format={rate}
          span={{ from_s: fromS, to_s: toS }}
        />
      )}
    </section>
  );
}
