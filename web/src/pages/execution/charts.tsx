import { useMemo } from "react";
import { BandwidthPlot } from "../../components/bandwidth-plot";
import { Empty, ErrorBox } from "../../components/feedback";
import { Plot, type Series } from "../../components/plot";
import { bytes, number } from "../../format";
import { type Demands, demandsOf } from "./demands";
import { Queries } from "./queries";
import { StoreUse } from "./store-use";
import type { Execution } from "./types";
import { useBandwidth } from "./use-bandwidth";
import { useUsage } from "./use-usage";

const cores = (value: number) => `${number(value)} cores`;

export function ChartsTab({ execution }: { execution: Execution }) {
  const { times, cpu, memory, error } = useUsage(execution);
  const { placed, ended } = execution.marks;
  const lastS = times.at(-1) ?? 0;
  const span = useMemo(() => runSpan(placed, ended, lastS), [placed, ended, lastS]);
  const demands = useMemo(() => demandsOf(execution), [execution]);
  return (
    <>
      <ErrorBox error={error} />
      {times.length === 0 ? (
        <Empty>Nothing has been measured yet; samples are taken while services run.</Empty>
      ) : (
        <>
          <Plot
            label="Cores, used and reserved"
            times={times}
            series={withReserved(cpu, times, demands, "cores")}
            format={cores}
            span={span}
          />
          <Plot
            label="Memory, used and reserved"
            times={times}
            series={withReserved(memory, times, demands, "memory")}
            format={bytes}
            span={span}
          />
        </>
      )}
      <Queries execution={execution} />
      <StoreUse execution={execution} />
      <Bandwidth execution={execution} />
    </>
  );
}

const SPAN_S_MIN = 10;

/** From its placement to its end, or to the last sample. */
function runSpan(placed: number | undefined, ended: number | undefined, lastS: number) {
  const from_s = placed ?? lastS;
  return { from_s, to_s: Math.max(ended ?? lastS, from_s + SPAN_S_MIN) };
}

function withReserved(used: Series[], times: number[], demands: Demands, what: "cores" | "memory") {
  // Attempts of a service have the same label, and one of them runs at a time.
  const names = [...new Set(used.map((one) => one.label))];
  const total = names.reduce((sum, name) => sum + (demands.get(name.replace(/-\d+$/, ""))?.[what] ?? 0), 0);
  return [...used, { label: "reserved in all", values: times.map(() => total), dashed: true }];
}

/** Of the whole tenant: the store cannot tell its executions apart. */
function Bandwidth({ execution }: { execution: Execution }) {
  const { data, error } = useBandwidth(execution);
  if (error) return <ErrorBox error={error} />;
  if (data && data.points.length > 0)
    return (
      <BandwidthPlot
        label={`Bandwidth of the object store, achieved and granted: all executions of ${execution.tenant}`}
        told={data}
        points={data.points}
      />
    );
  if (!execution.description.storage) return null;
  return <Empty>There are no samples of the store's bandwidth for the time of this execution.</Empty>;
}
