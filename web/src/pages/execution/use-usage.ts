import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, type Schemas, told } from "../../api/client";
import type { Series } from "../../components/plot";
import { ASK_AGAIN_S } from "./first-sample";
import type { Execution } from "./types";

type Sample = Schemas["UsageView"];

/** The line of one attempt of a service; attempts of a service have the same label. */
export interface Line extends Series {
  id: string;
}

const ASK_AGAIN_MS = ASK_AGAIN_S * 1000;

/** What its services used over time: cores (from CPU seconds) and memory, a line a service. */
export function useUsage(execution: Execution) {
  const { data, error } = useQuery({
    queryKey: ["execution", execution.id, "usage"],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/usage", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    refetchInterval: execution.outcome === null ? ASK_AGAIN_MS : false,
  });
  const lines = useMemo(() => linesOf(data?.usage ?? [], execution), [data, execution]);
  return { ...lines, error, intervalS: data?.interval_s ?? null };
}

/** A service that was not measured for longer has a gap in its line; samples come every few seconds. */
const GAP_S = 60;

export function linesOf(samples: Sample[], execution: Pick<Execution, "services">) {
  const times = [...new Set(samples.map(secondOf))].sort((a, b) => a - b);
  const place = new Map(times.map((at, index) => [at, index]));
  const names = new Map(execution.services.map((service) => [service.id, service.name]));
  const cpu: Line[] = [];
  const memory: Line[] = [];
  for (const [id, own] of Map.groupBy(samples, (one) => one.service_id)) {
    // Undefined: measured at other moments, so that the line goes on.
    const cores: Series["values"] = times.map(() => undefined);
    const size: Series["values"] = times.map(() => undefined);
    own.forEach((one, index) => {
      const before = own[index - 1];
      const at = place.get(secondOf(one)) as number;
      size[at] = one.memory_bytes;
      if (!before || one.at_s <= before.at_s) return;
      if (one.at_s - before.at_s > GAP_S) {
        cores[at] = null;
        const inside = (place.get(secondOf(before)) as number) + 1;
        if (inside < at) size[inside] = null;
      } else cores[at] = Math.max(0, (one.cpu_s - before.cpu_s) / (one.at_s - before.at_s));
    });
    const label = names.get(id) ?? id;
    cpu.push({ id, label, values: cores });
    memory.push({ id, label, values: size });
  }
  cpu.sort(byLabel);
  memory.sort(byLabel);
  return { times, cpu, memory };
}

/** Services are measured one after the other; what belongs together is within a second. */
function secondOf(sample: Sample): number {
  return Math.round(sample.at_s);
}

function byLabel(a: { label: string }, b: { label: string }): number {
  return a.label.localeCompare(b.label, "en", { numeric: true });
}
