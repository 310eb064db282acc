/** What an event says beside its name, in words instead of JSON. */

const SERVICE_KEYS = ["service_id", "services"];

/** "node: local, service: main-0"; empty for an event without details. `names` are those of the services, by id. */
export function eventDetails(
  data: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): string {
  return Object.entries(data)
    .filter(([, value]) => !isNothing(value))
    .map(([key, value]) => `${keyText(key)}: ${valueText(value, names)}`)
    .join(", ");
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function keyText(key: string): string {
  return SERVICE_KEYS.includes(key) ? key.replace("_id", "") : key.replaceAll("_", " ");
}

function valueText(value: unknown, names: ReadonlyMap<string, string>): string {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => valueText(one, names)).join("; ");
  if (typeof value === "object" && value !== null)
    return eventDetails(value as Record<string, unknown>, names);
  return String(value);
}
