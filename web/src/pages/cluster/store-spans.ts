import type { Schemas } from "../../api/client";

type Point = Schemas["StoragePointView"];
type Met = Schemas["StorageRuleMetView"];
// Stretches begin at fractions of seconds that need not add up exactly.
const NEXT = 1.5;

/** The bytes of all stretches, one way. */
export function totalOf(points: Point[], way: "read_bytes" | "written_bytes"): number {
  return points.reduce((sum, one) => sum + one[way], 0);
}

/** When bytes moved: from and to, in seconds, of stretches that follow each other. */
export function stretches(points: Point[], stretchS: number): [number, number][] {
  const found: [number, number][] = [];
  for (const { at_s } of points) {
    const last = found.at(-1);
    if (last && at_s - last[1] < (NEXT - 1) * stretchS) last[1] = at_s + stretchS;
    else found.push([at_s, at_s + stretchS]);
  }
  return found;
}

/** Where a time is on an axis of this width; what is outside is cut off, and the shortest time can be seen. */
export function within(beginS: number, endS: number, fromS: number, toS: number, width: number) {
  const place = (atS: number) => (Math.min(Math.max(atS, fromS), toS) - fromS) / Math.max(toS - fromS, 1e-9);
  const x = place(beginS) * width;
  return { x, width: Math.max(place(endS) * width - x, 1) };
}

/** The rules that requests met, each once. */
export function rulesText(rules: Met[]): string {
  return [...new Set(rules.map(ruleName))].join(", ");
}

/** A rule and its filter; a limit of bandwidth follows from rules and guarantees alike. */
export function ruleName({ rule, filter }: Met): string {
  return rule === null ? "held up by a limit of bandwidth" : `rule ${rule}: ${filter}`;
}
