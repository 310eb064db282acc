/** Forecasts in words. A time that has passed is none: what was expected by then is overdue. */

import { distance, moment } from "./format";

/** When it starts or ends: `about 14:02 (p50), by 14:05 (p90, in 3 min)`. Times in seconds since the epoch. */
export function expectedText(p50S: number | null, p90S: number, nowS: number): string {
  if (p90S <= nowS) return `soon; it was expected by ${moment(p90S)}`;
  const about = p50S === null ? "" : p50S > nowS ? `about ${moment(p50S)} (p50), ` : "soon, ";
  return `${about}by ${moment(p90S)} (p90, ${distance(p90S, nowS)})`;
}
