import type { Series } from "../../components/plot";
import type { Demands } from "./demands";
import type { Execution } from "./types";
import type { Line } from "./use-usage";

/** Cores and bytes that services use, of those that they have reserved. */
export interface Used {
  cores: number;
  memory: number;
  coresReserved: number;
  memoryReserved: number;
}

interface Lines {
  cpu: Line[];
  memory: Line[];
}

/** Sums over the services that were measured: of those that run, the latest values; else the peak of each, whichever
 * of its attempts had it. */
export function usedOf(
  { cpu, memory }: Lines,
  demands: Demands,
  { services }: Pick<Execution, "services">,
  running: boolean,
): Used | null {
  const counted = services.filter((one) => !running || one.state === "ready" || one.state === "starting");
  const byId = new Map(counted.map((one) => [one.id, one]));
  const total = running ? latest : peak;
  const sizes = mostOf(memory, byId, total);
  if (sizes.size === 0) return null;
  const used = { cores: 0, memory: 0, coresReserved: 0, memoryReserved: 0 };
  for (const [name, size] of sizes) {
    used.memory += size;
    const component = counted.find((one) => one.name === name)?.component ?? "";
    used.coresReserved += demands.get(component)?.cores ?? 0;
    used.memoryReserved += demands.get(component)?.memory ?? 0;
  }
  for (const most of mostOf(cpu, byId, total).values()) used.cores += most;
  return used;
}

/** The most of each service by its name, over its attempts. */
function mostOf(lines: Line[], byId: Map<string, { name: string }>, total: (line: Series) => number) {
  const found = new Map<string, number>();
  for (const line of lines) {
    const name = byId.get(line.id)?.name;
    if (name !== undefined) found.set(name, Math.max(found.get(name) ?? 0, total(line)));
  }
  return found;
}

function latest({ values }: Series): number {
  return values.findLast((value) => typeof value === "number") ?? 0;
}

function peak({ values }: Series): number {
  return values.reduce((most: number, value) => Math.max(most, value ?? 0), 0);
}
