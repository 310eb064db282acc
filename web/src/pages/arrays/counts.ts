import type { Schemas } from "../../api/client";
import { number } from "../../format";

type Counts = Schemas["ArraySummary"]["counts"];
type IndexState = Schemas["IndexState"];

/** In the order in which a progress bar shows them. */
export const INDEX_STATES: IndexState[] = ["succeeded", "failed", "cancelled", "active", "waiting"];

/** How many indices are in each state, in words; states without any are left out. */
export function countsText(counts: Counts): string {
  const parts = INDEX_STATES.filter((state) => counts[state]).map(
    (state) => `${number(counts[state] ?? 0)} ${state}`,
  );
  return parts.join(", ");
}

/** How many indices have ended. */
export function endedCount(counts: Counts): number {
  return (counts.succeeded ?? 0) + (counts.failed ?? 0) + (counts.cancelled ?? 0);
}
