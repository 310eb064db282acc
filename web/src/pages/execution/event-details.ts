import { moment } from "../../format";

/** What an event says beside its name, in words instead of JSON. */

/** Smaller numbers of seconds are durations: it is a day of 2001. */
const EPOCH_MIN_S = 1e9;
const SERVICE_KEYS = ["service_id", "services"];

/** "node: local, service: main-0"; empty for an event without details. `names` are those of the services, by id. */
export function eventDetails(
  data: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): string {
  return Object.entries(data)
    .filter(([, value]) => !isNothing(value))
    .map(([key, value]) => `${keyText(key)}: ${timeText(key, value) ?? valueText(value, names)}`)
    .join(", ");
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function keyText(key: string): string {
  const text = SERVICE_KEYS.includes(key) ? key.replace("_id", "") : key;
  return text
    .replace(/^at_s$/, "at")
    .replace(/_at_s$/, "_at")
    .replaceAll("_", " ");
}

/** A time of the clock; null for another value. */
function timeText(key: string, value: unknown): string | null {
  return typeof value === "number" && value > EPOCH_MIN_S && key.endsWith("_s") ? moment(value) : null;
}

function valueText(value: unknown, names: ReadonlyMap<string, string>): string {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => valueText(one, names)).join("; ");
  if (typeof value === "object" && value !== null)
    return eventDetails(value as Record<string, unknown>, names);
  return String(value);
}
