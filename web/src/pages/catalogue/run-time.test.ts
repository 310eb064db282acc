import { expect, it } from "vitest";
import { runTimeS, runTimeText, withRunTime, wrongRunTime } from "./run-time";

it("reads durations as people write them", () => {
  const texts = ["90m", "1h30m", "1h 30m", "45s", "45", "2d", "1w", ""];
  expect(texts.map(runTimeS)).toEqual([5400, 5400, 5400, 45, 45, 172_800, 604_800, null]);
  for (const wrong of ["soon", "0", "-3m", "1.5h", "30m1h"]) expect(runTimeS(wrong)).toBeNull();
  for (const seconds of [7200, 5400, 45]) expect(runTimeS(runTimeText(seconds))).toBe(seconds);
});

it("is refused at its field, and else declared", () => {
  expect(wrongRunTime("")).toEqual([]);
  expect(wrongRunTime("soon")[0]).toMatchObject({ pointer: "/run_time", message: "soon is not a duration" });
  const document = { name: "a", size: { run_time_s: 3 } };
  expect(withRunTime(document, "")).toBe(document);
  expect(withRunTime(document, "2m")).toEqual({ name: "a", size: { run_time_s: 120 } });
});
