import type { JournalEvent } from "./api/journal";

const KEY = "zoe-notices";
/** Of more ends at once, one message tells how many. */
export const SHOWN_MAX = 4;

export type Wanted = "on" | "off" | "denied" | "unknown";

/** Whether this browser shows a message when an execution has ended; `unknown`: it cannot. */
export function noticesWanted(): Wanted {
  if (!("Notification" in globalThis)) return "unknown";
  if (Notification.permission === "denied") return "denied";
  return localStorage.getItem(KEY) === "on" && Notification.permission === "granted" ? "on" : "off";
}

/** Asks the browser, and keeps what the user wants. */
export async function wantNotices(wanted: boolean): Promise<Wanted> {
  if (!wanted) localStorage.removeItem(KEY);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
  globalThis.dispatchEvent(new Event(KEY));
  return noticesWanted();
}

export function onNoticesWanted(changed: () => void): () => void {
  globalThis.addEventListener(KEY, changed);
  globalThis.addEventListener("storage", changed);
  return () => {
    globalThis.removeEventListener(KEY, changed);
    globalThis.removeEventListener("storage", changed);
  };
}

const INDEX = /^a[0-9a-z]{14}_/;
const ENDS = ["ended", "refused", "array_ended"];

/** The executions and arrays that ended in these events, each once. The end of an index is part of its array's. */
export function endedIn(events: JournalEvent[]): string[] {
  const ids = events.filter((e) => ENDS.includes(e.kind)).map((e) => e.execution_id);
  return [...new Set(ids.filter((id): id is string => typeof id === "string" && !INDEX.test(id)))];
}

/** Whether an id is that of an array. */
export function isArray(id: string): boolean {
  return /^a[0-9a-z]{14}$/.test(id);
}
