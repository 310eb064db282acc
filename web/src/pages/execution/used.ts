import type { Series } from "../../components/plot";
import type { Demands } from "./demands";
import type { Execution } from "./types";

/** Cores and bytes that services use, of those that they have reserved. */
export interface Used {
  cores: number;
  memory: number;
  coresReserved: number;
  memoryReserved: number;
}

interface Lines {
  cpu: Series[];
  memory: Series[];
}

/** Sums over the services that were measured: of those that run, the latest values; else the peak of each. */
export function usedOf(
  { cpu, memory }: Lines,
  demands: Demands,
  { services }: Pick<Execution, "services">,
  running: boolean,
): Used | null {
  const counted = services.filter((one) => !running || one.state === "ready" || one.state === "starting");
  const names = new Set(counted.map((one) => one.name));
  const measured = memory.filter((line) => names.has(line.label));
  if (measured.length === 0) return null;
  const total = running ? latest : peak;
  const used = { cores: 0, memory: 0, coresReserved: 0, memoryReserved: 0 };
  for (const line of measured) {
    used.memory += total(line);
    const component = counted.find((one) => one.name === line.label)?.component ?? "";
    used.coresReserved += demands.get(component)?.cores ?? 0;
    used.memoryReserved += demands.get(component)?.memory ?? 0;
  }
  for (const line of cpu) if (names.has(line.label)) used.cores += total(line);
  return used;
}

function latest({ values }: Series): number {
  return values.findLast((value) => typeof value === "number") ?? 0;
}

function peak({ values }: Series): number {
  return values.reduce((most: number, value) => Math.max(most, value ?? 0), 0);
}
