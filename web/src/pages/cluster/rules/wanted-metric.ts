import type { Schemas } from "../../../api/client";

/** What the form of a metric asks for. */
export interface MetricFields {
  name: string;
  kind: "expression" | "program";
  expression: string;
  program: string;
  tenantLabel: string;
  containerLabel: string;
}

type Request = Schemas["StorageMetricRequest"];

export const NO_METRIC: MetricFields = {
  name: "",
  kind: "expression",
  expression: "",
  program: "",
  tenantLabel: "tenant",
  containerLabel: "container",
};

const PROGRAM_BYTES_MAX = 64 * 1024;
const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The metric that the fields say, or why they say none. */
export function wantedMetric(fields: MetricFields): { name: string; body: Request } | string {
  const name = fields.name.trim();
  if (!WORD.test(name)) return "A name has letters, digits and _, and does not begin with a digit.";
  const text = fields[fields.kind];
  if (text.trim() === "")
    return fields.kind === "program" ? "Write or choose a program." : "Write an expression.";
  const labels = { tenant_label: fields.tenantLabel.trim(), container_label: fields.containerLabel.trim() };
  if (fields.kind === "program")
    return { name, body: { program: text, tenant_label: "tenant", container_label: "container" } };
  if (!Object.values(labels).every((label) => WORD.test(label)))
    return "Name the labels of tenant and container.";
  return { name, body: { expression: text.trim(), ...labels } };
}

/** The text of a program's file; throws an error with a sentence. */
export async function programOf(file: File): Promise<string> {
  if (file.size > PROGRAM_BYTES_MAX)
    throw new Error(`${file.name} has ${file.size} bytes; a program has ${PROGRAM_BYTES_MAX} at most.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not text in UTF-8.`);
  }
}

/** The place of a value: a container of a tenant, a tenant, or all. */
export function placeOf(value: Schemas["StorageMetricValue"]): string {
  return [value.tenant, value.container].filter(Boolean).join("/") || "all";
}
