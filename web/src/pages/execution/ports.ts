import type { Execution } from "./types";

interface Component {
  name?: unknown;
  ports?: unknown;
}

interface Port {
  name?: unknown;
  proxied?: unknown;
}

/** Names of the ports of a component that its description lets users open. */
export function proxiedPorts(execution: Execution, component: string): string[] {
  const components = listOf<Component>(execution.description.components);
  const found = components.find((one) => one.name === component);
  return listOf<Port>(found?.ports)
    .filter((port) => port.proxied === true)
    .map((port) => String(port.name));
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
