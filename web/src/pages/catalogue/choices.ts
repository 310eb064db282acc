/** With how many elastic services an application ends when, and for how much: the points of a small curve. */

import type { Schemas } from "../../api/client";

export interface Choice {
  elastic: number;
  runS: number;
  price: number;
}

export interface Choices {
  unit: string;
  /** The slowest first. */
  choices: Choice[];
}

/**
 * Those worth a choice: each ends earlier than the cheaper ones. Their prices are in core-hours of the services that
 * share the work where nothing else prices them. Null with fewer than two.
 */
export function choicesOf(runTimes: Schemas["RunTimeView"][]): Choices | null {
  const currency = runTimes[0]?.price?.currency;
  const priced = currency !== undefined && runTimes.every((one) => one.price?.currency === currency);
  const all = runTimes.map((one) => ({
    elastic: one.elastic,
    runS: one.p90_s,
    price: priced ? Number(one.price?.amount) : (one.cores * one.p50_s) / 3600,
  }));
  const choices: Choice[] = [];
  for (const one of all.sort((a, b) => a.price - b.price || a.runS - b.runS)) {
    const cheaper = choices[choices.length - 1];
    if (cheaper === undefined || one.runS < cheaper.runS) choices.push(one);
  }
  return choices.length < 2 ? null : { unit: priced ? currency : "core-hours", choices };
}

/** The cheapest that runs no longer than so many seconds, else the fastest. */
export function cheapestWithin(choices: Choice[], seconds: number): Choice | undefined {
  return choices.find((one) => one.runS <= seconds) ?? choices[choices.length - 1];
}

/** A time from now as a deadline is written, in whole minutes, or in seconds below one hour. */
export function fromNow(seconds: number): string {
  if (seconds < 3600) return `+${Math.ceil(seconds)}s`;
  const minutes = Math.ceil(seconds / 60);
  return `+${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
