/** Periods of the page of usage, in UTC as the sums are. */

export const PERIODS = ["7", "30", "90", "365", "month", "last"] as const;
export type Period = (typeof PERIODS)[number];

const DAY_S = 86_400;

export function periodText(period: Period): string {
  if (period === "month") return "this month";
  return period === "last" ? "last month" : `${period} days`;
}

/** From when until when, in seconds since the epoch; the last second belongs to it. */
export function periodOf(period: Period, nowS: number): { from_s: number; to_s: number } {
  if (period !== "month" && period !== "last")
    return { from_s: Math.floor(nowS) - Number(period) * DAY_S, to_s: Math.floor(nowS) };
  const now = new Date(nowS * 1000);
  const monthS = (ahead: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead) / 1000;
  return period === "month"
    ? { from_s: monthS(0), to_s: Math.floor(nowS) }
    : { from_s: monthS(-1), to_s: monthS(0) - 1 };
}
