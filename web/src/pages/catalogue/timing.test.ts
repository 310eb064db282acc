import { expect, it } from "vitest";
import { beginOf, expressionOf, missingOf, NO_TIMING, readTiming, type Timing, writeTiming } from "./timing";

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
