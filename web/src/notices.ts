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

/** The executions that ended in these events, each once. */
export function endedIn(events: JournalEvent[]): string[] {
  const ids = events.filter((e) => e.kind === "ended" || e.kind === "refused").map((e) => e.execution_id);
  return [...new Set(ids.filter((id): id is string => typeof id === "string"))];
}
