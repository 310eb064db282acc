/** What stands at the axes of charts. */

import { bytes, rate, rateUnit } from "../format";

/** A period, in seconds since the epoch. */
export interface Span {
  from_s: number;
  to_s: number;
}

const AROUND_S = 60;

/** The period of a single time, which has none by itself; null for several. */
export function around(times: number[]): Span | null {
  const [at] = times;
  return at === undefined || times.length > 1 ? null : { from_s: at - AROUND_S, to_s: at + AROUND_S };
}

/** The last hours before a time, to the second. */
export function lastHours(hours: number, nowS: number): Span {
  return { from_s: Math.floor(nowS - hours * 3600), to_s: Math.floor(nowS) };
}

const DAY_S = 86_400;
const MINUTE_S = 60;
const DIGITS_MAX = 6;
const EXACT = 1e-6;

/** Days where ticks are days apart; else times, to the second only where ticks are seconds apart, with the day at midnight. */
export function timesText(ticks: number[], step: number): string[] {
  return ticks.map((at) => {
    const date = new Date(at * 1000);
    const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    if (step >= DAY_S) return day;
    const time = date.toLocaleTimeString("en-GB");
    if (time === "00:00:00") return day;
    return step >= MINUTE_S ? time.slice(0, 5) : time;
  });
}

/** Numbers with as many digits as tell two ticks apart; sizes and rates in their units. */
export function ticksText(ticks: number[], step: number, format: (value: number) => string): string[] {
  if (format === bytes) return ticks.map(format);
  if (format === rate) {
    // All of an axis in one unit, that of its largest.
    const { divisor, unit } = rateUnit(Math.max(...ticks, 0));
    return numbersText(ticks, step, divisor).map((text) => `${text} ${unit}`);
  }
  return numbersText(ticks, step, 1);
}

function numbersText(ticks: number[], step: number, divisor: number): string[] {
  const shown = step / divisor;
  let digits = 0;
  while (digits < DIGITS_MAX && Math.abs(shown * 10 ** digits - Math.round(shown * 10 ** digits)) > EXACT)
    digits += 1;
  return ticks.map((value) => (value / divisor).toLocaleString("en", { maximumFractionDigits: digits }));
}
