import type { Schemas } from "../../api/client";
import { duration } from "../../format";

type Policy = Pick<Schemas["PolicyView"], "idle_after_s" | "idle_warning_s" | "idle_cores_milli">;

/** When the policy ends an interactive application that nobody uses. */
export function idleSentence({ idle_after_s, idle_warning_s, idle_cores_milli }: Policy): string {
  if (!idle_after_s) return "It is not ended when nobody uses it.";
  const computing = idle_cores_milli ? ", and computes nothing" : "";
  return `It is ended when nobody has used it for ${duration(idle_after_s + idle_warning_s)}${computing}.`;
}

/** When it is ended unless somebody uses it, in seconds since the epoch; null: its users have not been warned. */
export function idleEndS(
  { state, marks }: Pick<Schemas["ExecutionView"], "state" | "marks">,
  policy: Policy,
): number | null {
  const warnedAtS = marks.idle_warned;
  return state === "running" && warnedAtS !== undefined ? warnedAtS + policy.idle_warning_s : null;
}

/** When its time limit ends it, in seconds since the epoch; null: it has none, or has not started. */
export function limitEndS({ description, marks }: Pick<Schemas["ExecutionView"], "description" | "marks">) {
  const limitS = description.time_limit_s;
  const startedS = marks.started;
  return typeof limitS === "number" && startedS !== undefined ? startedS + limitS : null;
}
