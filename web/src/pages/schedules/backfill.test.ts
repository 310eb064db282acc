import { expect, test } from "vitest";
import { submitted } from "./backfill";

const made = { run_id: "x1", message: "" };

test("how many times were submitted, and why no more", () => {
  expect(submitted([], { succeeded: 2, failed: 1 })).toBe(
    "No time was submitted. Times that have run before: 1 failed, 2 succeeded.",
  );
  expect(submitted([made], {})).toBe("1 time was submitted.");
  expect(submitted([made, made, { run_id: null, message: "the quota is used up" }], {})).toBe(
    "2 times were submitted. The others were not: the quota is used up",
  );
});
