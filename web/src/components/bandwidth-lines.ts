import type { Schemas } from "../api/client";
import type { Series } from "./plot";

export type BandwidthOverTime = Schemas["BandwidthOverTimeView"];
export type BandwidthPoint = Schemas["BandwidthPointView"];
type Span = Omit<BandwidthOverTime, "points">;

const LINES = [
  { label: "read", what: "achieved", way: "read_bytes_per_s", dashed: false },
  { label: "read granted", what: "granted", way: "read_bytes_per_s", dashed: true },
  { label: "written", what: "achieved", way: "write_bytes_per_s", dashed: false },
  { label: "write granted", what: "granted", way: "write_bytes_per_s", dashed: true },
] as const;
// Stretches are counted from the epoch; their beginnings are fractions that need not add up exactly.
const NEXT = 1.5;

/** What one tenant moved beside what it was granted, within the span. Where nothing is known, lines are broken. */
export function bandwidthLines(points: BandwidthPoint[], { from_s, to_s, stretch_s }: Span) {
  const times: number[] = [];
  const known: (BandwidthPoint | null)[] = [];
  const add = (at: number, point: BandwidthPoint | null) => {
    times.push(Math.min(Math.max(at, from_s), to_s));
    known.push(point);
  };
  points.forEach((point, index) => {
    const next = points[index + 1];
    add(point.at_s, point);
    if (next && next.at_s - point.at_s < NEXT * stretch_s) return;
    const endS = point.at_s + stretch_s;
    add(endS, point);
    if (next) add((endS + next.at_s) / 2, null);
  });
  const series: Series[] = LINES.map(({ label, what, way, dashed }) => ({
    label,
    dashed,
    values: known.map((point) => point?.[what]?.[way] ?? null),
  }));
  return { times, series };
}

/** The points of each tenant that was granted or moved most, by name. */
export function busiest(points: BandwidthPoint[], tenantsMax: number): [string, BandwidthPoint[]][] {
  return [...Map.groupBy(points, (point) => point.tenant)]
    .map(([tenant, own]) => ({ tenant, own, total: own.reduce((sum, point) => sum + weight(point), 0) }))
    .sort((a, b) => b.total - a.total)
    .slice(0, tenantsMax)
    .map(({ tenant, own }): [string, BandwidthPoint[]] => [tenant, own])
    .sort(([a], [b]) => a.localeCompare(b));
}

function weight({ granted, achieved }: BandwidthPoint): number {
  return [granted, achieved].reduce(
    (sum, one) => sum + (one ? one.read_bytes_per_s + one.write_bytes_per_s : 0),
    0,
  );
}
