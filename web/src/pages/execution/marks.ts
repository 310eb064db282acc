import type { Schemas } from "../../api/client";
import type { Execution } from "./types";

type Mark = Schemas["Mark"];

const MARKS: [Mark, string][] = [
  ["view_failed", "failed through a view"],
  ["queued", "queued"],
  ["admitted", "admitted"],
  ["storage_granted", "storage granted"],
  ["storage_withdrawn", "storage withdrawn"],
  ["placed", "placed"],
  ["tenant_credential", "with the tenant's credential"],
  ["started", "started"],
  ["ready", "ready"],
  ["ended", "ended"],
];

/** What only happens when something goes wrong, or is asked for: never among those that may follow. */
const EXCEPTIONS: Mark[] = ["storage_withdrawn", "view_failed", "storage_granted", "tenant_credential"];

/** Marks with their names: those reached by time, for bandwidth may come and go at any; then those that may follow. */
export function timeline(marks: Partial<Record<Mark, number>>): [Mark, string][] {
  const reached = MARKS.filter(([mark]) => marks[mark] !== undefined);
  reached.sort(([a], [b]) => (marks[a] ?? 0) - (marks[b] ?? 0));
  if (marks.ended !== undefined) return reached;
  const ahead = MARKS.filter(([mark]) => marks[mark] === undefined && !EXCEPTIONS.includes(mark));
  return [...reached, ...ahead];
}

/** A step of the timeline: when it was reached, and how long that took; null if it is still ahead. */
export interface Step {
  name: string;
  atS: number | null;
  tookS: number | null;
}

export function stepsOf({ submitted_at_s, marks }: Pick<Execution, "submitted_at_s" | "marks">): Step[] {
  const steps: Step[] = [{ name: "submitted", atS: submitted_at_s, tookS: null }];
  let before = submitted_at_s;
  for (const [mark, name] of timeline(marks)) {
    const atS = marks[mark] ?? null;
    steps.push({ name, atS, tookS: atS === null ? null : atS - before });
    before = atS ?? before;
  }
  return steps;
}

const NO_TIME_S = 1;

/** Without steps that took no time, but with the first, the last that was reached, and those that are ahead. */
export function folded(steps: Step[]): Step[] {
  const last = steps.findLastIndex(({ atS }) => atS !== null);
  const kept: Step[] = [];
  let skippedS = 0;
  steps.forEach((step, index) => {
    if (index > 0 && index < last && (step.tookS ?? NO_TIME_S) < NO_TIME_S) {
      skippedS += step.tookS ?? 0;
      return;
    }
    // The time of the steps that are left out stays in the sum.
    kept.push(step.tookS === null ? step : { ...step, tookS: step.tookS + skippedS });
    skippedS = 0;
  });
  return kept;
}
