import type { Schemas } from "../../api/client";
import { api, told } from "../../api/client";
import type { Execution } from "./types";

type Service = Schemas["ServiceView"];

interface Component {
  name?: unknown;
  ports?: unknown;
  ends_application?: unknown;
}

interface Port {
  name?: unknown;
  proxied?: unknown;
}

/** What an execution is for: a port of the service that people work in. */
export interface Way {
  component: string;
  port: string;
  /** The service that serves it; null until it is ready. */
  service: Service | null;
}

/** Names of the ports of a component that its description lets users open. */
export function proxiedPorts(execution: Execution, component: string): string[] {
  const components = componentsOf(execution);
  const found = components.find((one) => one.name === component);
  return listOf<Port>(found?.ports)
    .filter((port) => port.proxied === true)
    .map((port) => String(port.name));
}

/** The way in that the page leads with: into the component that ends the application, else into the first that has one. */
export function mainWay(execution: Execution): Way | null {
  const components = [...componentsOf(execution)].sort(
    (a, b) => Number(b.ends_application === true) - Number(a.ends_application === true),
  );
  for (const { name } of components) {
    const component = String(name);
    const port = proxiedPorts(execution, component)[0];
    if (port === undefined) continue;
    const ready = execution.services.find((one) => one.component === component && one.state === "ready");
    return { component, port, service: ready ?? null };
  }
  return null;
}

/** "Open notebook": by the component, unless its name says nothing. */
export function wayText({ component, port }: Way): string {
  return `Open ${component === "main" ? port : component}`;
}

/** Opens a running application, in a page of its own and with nothing of this one's rights. */
export async function openPort(executionId: string, serviceId: string, port: string): Promise<void> {
  // Opened within the click, or the browser takes it for a pop-up that nobody asked for.
  const page = window.open("", "_blank");
  if (page) page.opener = null;
  try {
    const path = { execution_id: executionId, service_id: serviceId, port };
    const { url } = await told(
      api.POST("/api/v1/executions/{execution_id}/services/{service_id}/ports/{port}/open", {
        params: { path },
      }),
    );
    if (page) page.location.replace(url);
    else window.location.assign(url);
  } catch (error) {
    page?.close();
    throw error;
  }
}

function componentsOf(execution: Execution): Component[] {
  return listOf<Component>(execution.description.components);
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
