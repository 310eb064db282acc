import type { Schemas } from "../../api/client";

type Run = Schemas["ScheduleRunView"];
const PAGES = { execution: "executions", array: "arrays", workflow: "workflows" } as const;

/** What came of a time, in a few words. */
export function outcome(run: Run): string {
  if (run.run_id !== null) return run.state ?? "removed";
  const times = run.outcome === "missed" ? `, ${run.number} ${run.number === 1 ? "time" : "times"}` : "";
  return `${run.outcome}${times}${run.message ? `: ${run.message}` : ""}`;
}

/** Where the run of a time is shown; null if there is none. */
export function placeOf(run: Run): string | null {
  return run.run_id === null || run.kind === null || run.state == null
    ? null
    : `/${PAGES[run.kind]}/${run.run_id}`;
}
