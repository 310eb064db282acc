import { useSyncExternalStore } from "react";

/** Whether Zoe, or its database, is known to be away: one message at the top of the page says so, for all that it reads. */
let away = false;
const listeners = new Set<() => void>();
const reading = new WeakSet<object>();

export function setOutage(now: boolean): void {
  if (now === away) return;
  away = now;
  for (const listener of listeners) listener();
}

export function useOutage(): boolean {
  return useSyncExternalStore(subscribe, () => away);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes an error of something that the page read, and will read again by itself. */
export function ofReading(error: unknown): void {
  if (typeof error === "object" && error !== null) reading.add(error);
}

export function isOfReading(error: unknown): boolean {
  return typeof error === "object" && error !== null && reading.has(error);
}
