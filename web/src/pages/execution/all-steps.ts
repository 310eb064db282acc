import type { JournalEvent } from "../../api/journal";
import { timeline } from "./marks";
import type { Execution } from "./types";

type Reached = Pick<Execution, "submitted_at_s" | "marks" | "services">;

/** A step that was reached, in seconds since the submission and since the step before; null for the first. */
export interface ReachedStep {
  what: string;
  afterS: number;
  sinceS: number | null;
}

/** All that was reached, by time: marks, requeues, and when each service started, was ready and ended. */
export function allSteps(execution: Reached, events: Pick<JournalEvent, "kind" | "at_s">[]): ReachedStep[] {
  const found: [string, number][] = [["submitted", execution.submitted_at_s]];
  const requeues = events.filter(({ kind }) => kind === "requeued");
  requeues.forEach(({ at_s }, index) => {
    found.push([`requeued for attempt ${index + 2}`, at_s]);
  });
  for (const [mark, name] of timeline(execution.marks)) {
    const atS = execution.marks[mark];
    if (atS !== undefined) found.push([name, atS]);
  }
  for (const one of execution.services) {
    const name = one.attempt === 1 ? one.name : `${one.name}, attempt ${one.attempt}`;
    for (const what of ["started", "ready", "ended"] as const) {
      const atS = one[`${what}_at_s`];
      if (atS != null) found.push([`${name} ${what}`, atS]);
    }
  }
  found.sort(([, a], [, b]) => a - b);
  return found.map(([what, atS], index) => {
    const before = found[index - 1];
    return { what, afterS: atS - execution.submitted_at_s, sinceS: before ? atS - before[1] : null };
  });
}
