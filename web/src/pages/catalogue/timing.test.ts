import { expect, it } from "vitest";
import {
  beginOf,
  expressionOf,
  missingOf,
  NO_TIMING,
  readTiming,
  type Timing,
  timingOf,
  whenText,
  writeTiming,
} from "./timing";

const NIGHTLY: Timing = { ...NO_TIMING, when: "daily", time: "02:05", schedule: "nightly" };

it("keeps the time in the address", () => {
  const query = new URLSearchParams("memory=1");
  writeTiming(query, NIGHTLY);
  expect(readTiming(query)).toEqual(NIGHTLY);
  const now = new URLSearchParams();
  writeTiming(now, NO_TIMING);
  expect(String(now)).toBe("");
  expect(readTiming(new URLSearchParams("_when=never"))).toEqual(NO_TIMING);
});

it.each([
  [NIGHTLY, "5 2 * * *"],
  [{ ...NIGHTLY, when: "weekly", day: "5" } as Timing, "5 2 * * 5"],
  [{ ...NIGHTLY, when: "cron", cron: " 0 */2 * * * " } as Timing, "0 */2 * * *"],
])("%j has a cron expression", (timing, expression) => {
  expect(expressionOf(timing)).toBe(expression);
});

it("says what is missing", () => {
  const later: Timing = { ...NO_TIMING, when: "later", later: "2026-11-30T08:30" };
  expect(missingOf(later, 0)).toBeNull();
  expect(beginOf(later)).toBe(new Date(2026, 10, 30, 8, 30).getTime() / 1000);
  expect(missingOf(later, 9e9)?.message).toContain("has passed");
  expect(missingOf({ ...later, later: "" }, 0)?.pointer).toBe("/later");
  expect(missingOf({ ...NIGHTLY, schedule: " " }, 0)?.pointer).toBe("/schedule");
  expect(missingOf({ ...NIGHTLY, when: "cron" }, 0)?.pointer).toBe("/expression");
  expect(missingOf({ ...NIGHTLY, time: "" }, 0)?.pointer).toBe("/time");
  expect(missingOf(NIGHTLY, 0)).toBeNull();
});

it.each([
  ["5 2 * * *", { when: "daily", time: "02:05" }],
  ["30 14 * * 5", { when: "weekly", time: "14:30", day: "5" }],
  ["0 */2 * * *", { when: "cron", cron: "0 */2 * * *" }],
  ["@daily", { when: "cron", cron: "@daily" }],
])("shows the expression %j as the form has it", (expression, changed) => {
  const timing = timingOf(expression, "nightly");
  expect(timing).toEqual({ ...NO_TIMING, schedule: "nightly", ...changed });
  expect(expressionOf(timing)).toBe(expression);
});

it("says when it enters the queue, unless that is now", () => {
  expect(whenText(NO_TIMING)).toBeNull();
  expect(whenText(NIGHTLY)).toBe("every day at 02:05");
  expect(whenText({ ...NIGHTLY, when: "weekly", day: "5" })).toBe("every Friday at 02:05");
  expect(whenText({ ...NIGHTLY, when: "schedule" })).toBe("at the times of the schedule");
  expect(whenText({ ...NO_TIMING, when: "later" })).toBe("later");
  expect(whenText({ ...NO_TIMING, when: "later", later: "2030-11-30T08:30" })).toContain("at 30 Nov 2030");
});
