import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { api, type Schemas, told } from "../api/client";
import { useMay, useSession } from "../api/session";
import { Empty, ErrorBox } from "../components/feedback";
import { Meter } from "../components/meter";
import { Plot } from "../components/plot";
import { Table } from "../components/table";
import { bytes, duration, number, rate } from "../format";
import { StorageCharts } from "./cluster/storage-charts";
import { PERIODS, type Period, periodOf, periodText } from "./usage-period";

type Day = Schemas["DayUseView"];

const DAY_S = 86_400;
const QUOTA_EVERY_MS = 5_000;

/** What was reserved day by day, from the journal. */
export default function UsagePage() {
  const { tenant } = useSession();
  const operates = useMay("operate");
  const [period, setPeriod] = useState<Period>("30");
  const { from_s: from, to_s: to } = useMemo(() => periodOf(period, Date.now() / 1000), [period]);
  const { data, error } = useQuery({
    queryKey: ["use", period],
    queryFn: async () => {
      // The route answers as CSV, too, to whoever asks for that.
      const answer = await told(
        api.GET("/api/v1/usage/daily", { params: { query: { from_s: from, to_s: to } } }),
      );
      return answer as Schemas["DailyUse"];
    },
  });
  const span = useMemo(() => wholeDays(from, to), [from, to]);
  const rows = data?.days ?? [];
  const byDay = useMemo(() => sumsOf(data?.days ?? []), [data]);
  return (
    <>
      <div className="spread">
        <h1>Usage {operates ? "of all tenants" : `of ${tenant}`}</h1>
        <div className="row">
          <label>
            Period{" "}
            <select value={period} onChange={(e) => setPeriod(e.target.value as Period)}>
              {PERIODS.map((one) => (
                <option key={one} value={one}>
                  {periodText(one)}
                </option>
              ))}
            </select>
          </label>
          <Link className="button" to="/statement">
            Prices
          </Link>
          <a className="button" href={`/api/v1/usage/daily?format=csv&from_s=${from}&to_s=${to}`} download>
            CSV
          </a>
        </div>
      </div>
      <Quota />
      <StoreUse />
      <ErrorBox error={error} />
      {data && rows.length === 0 && <Empty>Nothing was reserved in this period.</Empty>}
      {rows.length > 0 && (
        <>
          <Plot
            label="Core-hours by day (UTC)"
            times={byDay.map((day) => day.atS)}
            series={[{ label: "core-hours", values: byDay.map((day) => day.cores) }]}
            format={number}
            span={span}
          />
          <Plot
            label="Memory by day (UTC), GiB-hours"
            times={byDay.map((day) => day.atS)}
            series={[{ label: "GiB-hours", values: byDay.map((day) => day.memory) }]}
            format={number}
            span={span}
          />
          <Days rows={rows} />
        </>
      )}
    </>
  );
}

/** What the tenant moved to and from the object store. Without a store nothing is said, but of what was moved before. */
function StoreUse() {
  const { tenant } = useSession();
  const operates = useMay("operate");
  const { data } = useQuery({ queryKey: ["storage"], queryFn: () => told(api.GET("/api/v1/storage")) });
  const configured = data?.configured ?? false;
  if (!operates) return <StorageCharts of={tenant} onlyIfUsed={!configured} />;
  if (!configured) return null;
  return (
    <p>
      What each tenant moved to and from the object store is at{" "}
      <Link to="/cluster/storage">Cluster, Storage</Link>.
    </p>
  );
}

/** What the tenant, and the user in it, have now of what they may have at the same time. */
function Quota() {
  const { data } = useQuery({
    queryKey: ["quota"],
    queryFn: () => told(api.GET("/api/v1/quota")),
    refetchInterval: QUOTA_EVERY_MS,
  });
  if (!data) return null;
  const cores = (milli: number) => number(milli / 1000);
  return (
    <section className="card" aria-label="Quota">
      <h2>Quota of {data.tenant}, now</h2>
      <Meter label="Executions" {...data.executions} format={number} />
      <Meter label="Your executions" {...data.executions_of_user} format={number} />
      <Meter label="Cores" {...data.cores_milli} format={cores} />
      <Meter label="Memory" {...data.memory_bytes} format={bytes} />
      <Meter label="Your cores" {...data.cores_milli_of_user} format={cores} />
      <Meter label="Your memory" {...data.memory_bytes_of_user} format={bytes} />
      <Meter label="Read guaranteed" {...data.read_bytes_per_s} format={rate} />
      <Meter label="Write guaranteed" {...data.write_bytes_per_s} format={rate} />
      <p>
        Longest time limit of an execution:{" "}
        {data.time_limit_s_max === null ? "no limit" : duration(data.time_limit_s_max)}
      </p>
    </section>
  );
}

function Days({ rows }: { rows: Day[] }) {
  return (
    <div className="card">
      <Table
        headings={[
          "Day (UTC)",
          "Tenant",
          "User",
          { text: "Core-hours", num: true },
          { text: "GiB-hours of memory", num: true },
          { text: "GiB of the store, granted", num: true },
        ]}
      >
        {[...rows].reverse().map((row) => (
          <tr key={`${row.day}/${row.tenant}/${row.user}`}>
            <td className="time">{row.day}</td>
            <td className="long">{row.tenant}</td>
            <td className="long">{row.user}</td>
            <td className="num">{number(row.core_hours)}</td>
            <td className="num">{number(row.memory_gib_hours)}</td>
            <td className="num">{number(row.store_gib)}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** From the day in which a time is, in UTC as the sums are. */
function wholeDays(fromS: number, toS: number) {
  return { from_s: fromS - (fromS % DAY_S), to_s: toS };
}

/** A sum for each day from the first to the last; a day without rows used nothing. */
function sumsOf(rows: Day[]) {
  const byDay = Map.groupBy(rows, (row) => Date.parse(row.day) / 1000);
  const first = Math.min(...byDay.keys());
  const last = Math.max(...byDay.keys());
  const sums = [];
  for (let atS = first; atS <= last; atS += DAY_S) {
    const own = byDay.get(atS) ?? [];
    sums.push({
      atS,
      cores: own.reduce((sum, row) => sum + row.core_hours, 0),
      memory: own.reduce((sum, row) => sum + row.memory_gib_hours, 0),
    });
  }
  return sums;
}
