import type { Schemas } from "../api/client";

type Any = Schemas["ExecutionState"] | Schemas["ServiceState"];

const LOOK: Record<Any, string> = {
  submitted: "wait",
  queued: "wait",
  created: "wait",
  starting: "busy",
  running: "good",
  ready: "good",
  stopping: "busy",
  succeeded: "done",
  ended: "done",
  failed: "bad",
  lost: "bad",
  cancelled: "off",
};

/** A state by word and colour; never by colour alone. */
export function StateBadge({ state }: { state: Any }) {
  return <span className={`badge ${LOOK[state]}`}>{state}</span>;
}
