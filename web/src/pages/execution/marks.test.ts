import { expect, it } from "vitest";
import { folded, stepsOf, timeline } from "./marks";

const names = (marks: Parameters<typeof timeline>[0]) => timeline(marks).map(([mark]) => mark);
const STARTED = { queued: 1, admitted: 2, placed: 2, started: 4, ready: 5 };

it("has what was reached by time, then what may follow", () => {
  expect(names({ queued: 1 })).toEqual(["queued", "admitted", "placed", "started", "ready", "ended"]);
  expect(names({ ...STARTED, storage_granted: 3 })).toEqual([
    "queued",
    "admitted",
    "placed",
    "storage_granted",
    "started",
    "ready",
    "ended",
  ]);
});

it("has bandwidth that was withdrawn when it was, and none that never came once all is over", () => {
  const withdrawn = { ...STARTED, storage_withdrawn: 7 };
  expect(names(withdrawn).slice(4)).toEqual(["ready", "storage_withdrawn", "ended"]);
  expect(names({ ...withdrawn, ended: 9 }).slice(4)).toEqual(["ready", "storage_withdrawn", "ended"]);
  expect(names({ ...STARTED, ended: 9 })).toEqual([
    "queued",
    "admitted",
    "placed",
    "started",
    "ready",
    "ended",
  ]);
});

it("has a try that failed through a view before the try that it led to, and never among what may follow", () => {
  const again = { queued: 9, view_failed: 9, admitted: 10 };
  expect(names(again).slice(0, 3)).toEqual(["view_failed", "queued", "admitted"]);
  expect(names({ queued: 1 })).not.toContain("view_failed");
});

it("folds steps that took no time into the next one, and keeps the last that was reached", () => {
  const steps = stepsOf({
    submitted_at_s: 0,
    marks: { queued: 0.1, admitted: 30, placed: 30.1, started: 30.2 },
  });
  expect(steps.map(({ name }) => name)).toEqual([
    "submitted",
    "queued",
    "admitted",
    "placed",
    "started",
    "ready",
    "ended",
  ]);
  const short = folded(steps);
  expect(short.map(({ name }) => name)).toEqual(["submitted", "admitted", "started", "ready", "ended"]);
  expect(short.map(({ tookS }) => tookS?.toFixed(1))).toEqual([
    undefined,
    "30.0",
    "0.2",
    undefined,
    undefined,
  ]);
});
