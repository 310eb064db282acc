/** When a form's application runs: now, once later, or again and again as a schedule. */

import { moment } from "../../format";

/** `schedule`: at the times of a schedule that exists, of which it changes what runs. */
export type When = "now" | "later" | "daily" | "weekly" | "cron" | "schedule";

export interface Timing {
  when: When;
  /** A local date and time, as `datetime-local` has it: `2026-11-30T08:30`. */
  later: string;
  /** A time of the day: `02:30`. */
  time: string;
  /** Day of the week, 0: Sunday. */
  day: string;
  /** Cron expression of five fields. */
  cron: string;
  /** Name of the schedule. */
  schedule: string;
}

export const NO_TIMING: Timing = { when: "now", later: "", time: "02:30", day: "1", cron: "", schedule: "" };

/** What forms call the fields of a timing. */
export const TIMING_LABELS = {
  later: "When",
  time: "When",
  expression: "When",
  schedule: "Name of the schedule",
};

export const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

// No field of a form begins like this.
const WHEN = "_when";
const OF: Record<When, (keyof Timing)[]> = {
  now: [],
  later: ["later"],
  daily: ["time", "schedule"],
  weekly: ["day", "time", "schedule"],
  cron: ["cron", "schedule"],
  schedule: ["schedule"],
};

export function readTiming(query: URLSearchParams): Timing {
  const when = query.get(WHEN);
  if (when === null || !Object.hasOwn(OF, when)) return NO_TIMING;
  const fields = OF[when as When].map((key) => [key, query.get(`_${key}`) ?? NO_TIMING[key]]);
  return { ...NO_TIMING, ...Object.fromEntries(fields), when: when as When };
}

export function writeTiming(query: URLSearchParams, timing: Timing): void {
  if (timing.when === "now") return;
  query.set(WHEN, timing.when);
  for (const key of OF[timing.when]) if (timing[key]) query.set(`_${key}`, timing[key]);
}

/** Whether it becomes a schedule. */
export function repeats({ when }: Timing): boolean {
  return when === "daily" || when === "weekly" || when === "cron";
}

/** The cron expression of a schedule's times. */
export function expressionOf({ when, time, day, cron }: Timing): string {
  if (when === "cron") return cron.trim();
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return `${minute} ${hour} * * ${when === "weekly" ? day : "*"}`;
}

/** The times of a cron expression as the form has them. */
export function timingOf(expression: string, schedule: string): Timing {
  const found = expression.match(/^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-6])$/);
  if (found === null) return { ...NO_TIMING, when: "cron", cron: expression, schedule };
  const [, minute = "", hour = "", day = ""] = found;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  return day === "*"
    ? { ...NO_TIMING, when: "daily", time, schedule }
    : { ...NO_TIMING, when: "weekly", time, day, schedule };
}

/** Seconds since the epoch at which it may begin; null: at once, or the field is empty. */
export function beginOf({ when, later }: Timing): number | null {
  const at = Date.parse(later);
  return when !== "later" || Number.isNaN(at) ? null : at / 1000;
}

/** What is missing before it can be sent; null if nothing is. */
export function missingOf(timing: Timing, nowS: number): { pointer: string; message: string } | null {
  if (timing.when === "later") {
    const at = beginOf(timing);
    if (at === null) return { pointer: "/later", message: "choose a date and a time" };
    return at < nowS ? { pointer: "/later", message: "this time has passed: choose a later one" } : null;
  }
  if (!repeats(timing)) return null;
  if (timing.when === "cron" && timing.cron.trim() === "")
    return { pointer: "/expression", message: "write five fields, such as 30 2 * * 1-5" };
  if (timing.when !== "cron" && timing.time === "") return { pointer: "/time", message: "choose a time" };
  if (timing.schedule.trim() === "")
    return { pointer: "/schedule", message: "give the schedule a name of letters, digits, - and _" };
  return null;
}

/** When it enters the queue, as the end of a sentence; null: at once. */
export function whenText(timing: Timing): string | null {
  switch (timing.when) {
    case "now":
      return null;
    case "later": {
      const at = beginOf(timing);
      return at === null ? "later" : `at ${moment(at)}`;
    }
    case "daily":
      return `every day at ${timing.time}`;
    case "weekly":
      return `every ${DAYS[Number(timing.day)]} at ${timing.time}`;
    case "cron":
    case "schedule":
      return "at the times of the schedule";
  }
}
