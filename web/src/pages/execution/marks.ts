import type { Schemas } from "../../api/client";

type Mark = Schemas["Mark"];

const MARKS: [Mark, string][] = [
  ["view_failed", "failed through a view"],
  ["queued", "queued"],
  ["admitted", "admitted"],
  ["storage_granted", "storage granted"],
  ["storage_withdrawn", "storage withdrawn"],
  ["placed", "placed"],
  ["started", "started"],
  ["ready", "ready"],
  ["ended", "ended"],
];

/** What only happens when something goes wrong: never among those that may follow. */
const EXCEPTIONS: Mark[] = ["storage_withdrawn", "view_failed"];

/** Marks with their names: those reached by time, for bandwidth may come and go at any; then those that may follow. */
export function timeline(marks: Partial<Record<Mark, number>>): [Mark, string][] {
  const reached = MARKS.filter(([mark]) => marks[mark] !== undefined);
  reached.sort(([a], [b]) => (marks[a] ?? 0) - (marks[b] ?? 0));
  if (marks.ended !== undefined) return reached;
  const ahead = MARKS.filter(([mark]) => marks[mark] === undefined && !EXCEPTIONS.includes(mark));
  return [...reached, ...ahead];
}
