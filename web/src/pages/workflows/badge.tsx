import type { Schemas } from "../../api/client";
import { plain } from "./layout";

export const LOOK: Record<Schemas["StepState"] | Schemas["WorkflowState"], string> = {
  waiting: "wait",
  queued: "wait",
  running: "good",
  succeeded: "done",
  failed: "bad",
  cancelled: "off",
  skipped: "off",
  not_needed: "off",
};

/** The state of a step or workflow by word and colour; never by colour alone. */
export function Badge({ state }: { state: keyof typeof LOOK }) {
  return <span className={`badge ${LOOK[state]}`}>{plain(state)}</span>;
}
