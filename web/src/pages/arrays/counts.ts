import type { Schemas } from "../../api/client";
import { number } from "../../format";

type Counts = Schemas["ArraySummary"]["counts"];
type ActiveStates = NonNullable<Schemas["ArraySummary"]["active_states"]>;
type IndexState = Schemas["IndexState"];

/** In the order in which a progress bar shows them. */
export const INDEX_STATES: IndexState[] = ["succeeded", "failed", "cancelled", "active", "waiting"];
const ACTIVE_STATES = ["running", "starting", "stopping", "queued", "submitted"] as const;

/** How many indices are in each state, in words, active ones by the state of their executions. */
export function countsText(counts: Counts, active: ActiveStates = {}): string {
  const parts = INDEX_STATES.flatMap(
    (state) => (state === "active" && activeText(active)) || text(counts[state], state),
  );
  return parts.filter((part) => part !== "").join(", ");
}

/** The states of executions of active indices, whose number stands beside them; empty while they are not known. */
export function activeStates(active: ActiveStates): string {
  return ACTIVE_STATES.filter((state) => active[state]).join(" or ");
}

function activeText(active: ActiveStates): string {
  return ACTIVE_STATES.map((state) => text(active[state], state))
    .filter((part) => part !== "")
    .join(", ");
}

function text(count: number | undefined, state: string): string {
  return count ? `${number(count)} ${state}` : "";
}

/** How many indices have ended. */
export function endedCount(counts: Counts): number {
  return (counts.succeeded ?? 0) + (counts.failed ?? 0) + (counts.cancelled ?? 0);
}
