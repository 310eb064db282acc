import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { withBreaks } from "../../components/breaks";
import { ErrorBox } from "../../components/feedback";
import { LastHours } from "../../components/last-hours";
import { Plot } from "../../components/plot";
import { lastHours } from "../../components/plot-axes";
import { bytes, number } from "../../format";

type Point = Schemas["UsePointView"];

const ASK_AGAIN_MS = 10_000;
const LINES_MAX = 8;
const cores = (value: number) => `${number(value)} cores`;

/** Cores and memory in use over time, a line a node or an application. */
export function NodeCharts() {
  const [by, setBy] = useState<"node" | "application">("node");
  const [hours, setHours] = useState(1);
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ["use-over-time", by, hours],
    queryFn: () =>
      told(
        api.GET("/api/v1/usage/over-time", {
          params: { query: { by, from_s: Date.now() / 1000 - hours * 3600 } },
        }),
      ),
    refetchInterval: ASK_AGAIN_MS,
  });
  const lines = useMemo(() => linesOf(data?.points ?? []), [data]);
  const span = useMemo(() => lastHours(hours, dataUpdatedAt / 1000), [hours, dataUpdatedAt]);
  return (
    <section aria-label="Use over time">
      <div className="row">
        <h2>In use over time</h2>
        <label>
          by{" "}
          <select value={by} onChange={(e) => setBy(e.target.value as "node" | "application")}>
            <option>node</option>
            <option>application</option>
          </select>
        </label>
        <LastHours hours={hours} onChange={setHours} />
      </div>
      <ErrorBox error={error} />
      {lines.times.length > 0 ? (
        <>
          <Plot label="Cores in use" times={lines.times} series={lines.cores} format={cores} span={span} />
          <Plot label="Memory in use" times={lines.times} series={lines.memory} format={bytes} span={span} />
        </>
      ) : (
        <p className="faint">No samples in this period.</p>
      )}
    </section>
  );
}

export function linesOf(points: Point[]) {
  const times = withBreaks([...new Set(points.map((point) => point.at_s))].sort((a, b) => a - b));
  const place = new Map(times.map((at, index) => [at, index]));
  const groups = [...Map.groupBy(points, (point) => point.name)]
    .map(([name, own]) => ({ name, own, total: own.reduce((sum, one) => sum + one.cores, 0) }))
    .sort((a, b) => b.total - a.total)
    .slice(0, LINES_MAX);
  const series = (what: "cores" | "memory_bytes") =>
    groups.map(({ name, own }) => {
      const values: (number | null)[] = times.map(() => null);
      for (const one of own) values[place.get(one.at_s) as number] = one[what];
      return { label: name, values };
    });
  return { times, cores: series("cores"), memory: series("memory_bytes") };
}
