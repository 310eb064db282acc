import type { Schemas } from "../../api/client";
import { duration } from "../../format";

type Schedule = Schemas["ScheduleView"];
type Run = Schemas["ScheduleRunView"];
const PAGES = { execution: "executions", array: "arrays", workflow: "workflows" } as const;

/** What came of a time, in a few words. */
export function outcome(run: Run): string {
  if (run.run_id !== null) return run.state ?? "removed";
  const times = run.outcome === "missed" ? `, ${run.number} ${run.number === 1 ? "time" : "times"}` : "";
  return `${run.outcome}${times}${run.message ? `: ${run.message}` : ""}`;
}

/** What is promised of each run, and how long before its time it is submitted; empty if neither is asked for. */
export function wished(one: Pick<Schedule, "finish_by" | "confidence" | "ahead_s">): string {
  const sure = Math.round((one.confidence ?? 0.9) * 100);
  const promise = one.finish_by
    ? `Each run is to be promised to end by ${one.finish_by}, with ${sure}% confidence.`
    : "";
  const ahead = one.ahead_s ? `It is submitted ${duration(one.ahead_s)} before its time.` : "";
  return [promise, ahead].filter(Boolean).join(" ");
}

/** Where the run of a time is shown; null if there is none. */
export function placeOf(run: Run): string | null {
  return run.run_id === null || run.kind === null || run.state == null
    ? null
    : `/${PAGES[run.kind]}/${run.run_id}`;
}
