import { expect, test } from "vitest";
import { storeLines } from "./store-lines";

test("a stretch is as long as it is, and nothing is moved between", () => {
  const points = [
    { at_s: 30, read_bytes: 300, written_bytes: 0 },
    { at_s: 120, read_bytes: 0, written_bytes: 60 },
  ];
  const { times, series } = storeLines(points, 30, 40, 1000);
  expect(times).toEqual([40, 40, 60, 60, 120, 120, 150, 150]);
  expect(series[0]?.values).toEqual([0, 10, 10, 0, 0, 0, 0, 0]);
  expect(series[1]?.values).toEqual([0, 0, 0, 0, 0, 2, 2, 0]);
  expect(storeLines([], 30, 0, 10).times).toEqual([]);
});
