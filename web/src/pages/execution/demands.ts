import type { Execution } from "./types";

export type Demands = Map<string, { cores: number; memory: number }>;

const UNITS: Record<string, number> = { K: 1, M: 2, G: 3, T: 4, P: 5 };

/** What each instance of a component reserves, as the description says. */
export function demandsOf(execution: Execution): Demands {
  const found: Demands = new Map();
  const components = execution.description.components;
  if (!Array.isArray(components)) return found;
  for (const one of components as {
    name: string;
    resources?: { cores?: number; memory?: number | string };
  }[]) {
    found.set(one.name, { cores: one.resources?.cores ?? 1, memory: sizeOf(one.resources?.memory ?? 0) });
  }
  return found;
}

/** Bytes of a size such as `2GiB` or `500 MB`. */
export function sizeOf(text: number | string): number {
  if (typeof text === "number") return text;
  const found = /^([0-9.]+) ?(?:([kKMGTP])(i?))?B?$/.exec(text);
  if (!found) return 0;
  const [, amount = "0", unit, binary] = found;
  const power = unit ? (UNITS[unit.toUpperCase()] ?? 0) : 0;
  return Number(amount) * (binary ? 1024 : 1000) ** power;
}
