/** What stands at the axes of charts. */

import { bytes, rate } from "../format";

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
  if (format === bytes || format === rate) return ticks.map(format);
  let digits = 0;
  while (digits < DIGITS_MAX && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > EXACT)
    digits += 1;
  return ticks.map((value) => value.toLocaleString("en", { maximumFractionDigits: digits }));
}
