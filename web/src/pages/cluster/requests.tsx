import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { num, Table } from "../../components/table";
import { number, rate } from "../../format";

const ASK_AGAIN_MS = 2_000;
const ROWS_MAX = 20;
const VIEWS = {
  "tenant,container,method": "container and method",
  tenant: "tenant",
  "tenant,method": "tenant and method",
  "tenant,key,method": "who signs and method",
  "proxy,method": "proxy and method",
  "method,node": "object server and method",
} as const;

/** Cores that filters and views take; what waits for the tenant's bound is told beside it. */
function cores(row: Schemas["StorageTrafficRow"]): string {
  if (row.cpu_s_per_s == null) return "";
  const waits = row.cpu_wait_s_per_s ? `, ${number(row.cpu_wait_s_per_s)} waiting` : "";
  return row.cpu_s_per_s + (row.cpu_wait_s_per_s ?? 0) > 0 ? `${number(row.cpu_s_per_s)} cores${waits}` : "";
}

/** Who asks for how much at the proxies, now. */
export function Requests() {
  const [by, setBy] = useState<keyof typeof VIEWS>("tenant,container,method");
  const { data, error } = useQuery({
    queryKey: ["storage-traffic", by],
    queryFn: () => told(api.GET("/api/v1/storage/traffic", { params: { query: { by } } })),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  const names = by.split(",") as ("tenant" | "key" | "container" | "method" | "proxy" | "node")[];
  const rows = data?.rows ?? [];
  return (
    <section className="card" aria-label="Requests">
      <div className="row">
        <h2>Requests of the last seconds</h2>
        <label>
          By{" "}
          <select value={by} onChange={(e) => setBy(e.target.value as keyof typeof VIEWS)}>
            {Object.entries(VIEWS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ErrorBox error={error} />
      {data && rows.length === 0 && <p className="faint">There were none.</p>}
      {rows.length > 0 && (
        <Table
          headings={[
            ...names.map((name) => name.charAt(0).toUpperCase() + name.slice(1)),
            num("Requests/s"),
            num("Refused/s"),
            num("Failed/s"),
            num("Read"),
            num("Written"),
            num("Latency"),
            num("CPU"),
          ]}
        >
          {rows.slice(0, ROWS_MAX).map((row) => (
            <tr key={names.map((name) => row[name]).join("/")}>
              {names.map((name) => (
                <td key={name} className="long">
                  {row[name]}
                </td>
              ))}
              <td className="num">{number(row.requests_per_s)}</td>
              <td className="num">{number(row.refused_per_s)}</td>
              <td className="num">{number(row.failed_per_s)}</td>
              <td className="num">{rate(row.read_bytes_per_s)}</td>
              <td className="num">{rate(row.write_bytes_per_s)}</td>
              <td className="num">
                {row.mean_latency_s !== null && `${number(row.mean_latency_s * 1000)} ms`}
              </td>
              <td className="num">{cores(row)}</td>
            </tr>
          ))}
        </Table>
      )}
      {rows.length > ROWS_MAX && <p className="faint">{rows.length - ROWS_MAX} rows more.</p>}
    </section>
  );
}
