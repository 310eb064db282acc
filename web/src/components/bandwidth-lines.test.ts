import { expect, it } from "vitest";
import { type BandwidthPoint, bandwidthLines, busiest } from "./bandwidth-lines";

function rates(read: number, write = 0) {
  return { read_bytes_per_s: read, write_bytes_per_s: write };
}

function point(atS: number, achieved: number, tenant = "red"): BandwidthPoint {
  return { at_s: atS, tenant, granted: rates(10, 4), achieved: rates(achieved, 1), missed: rates(0) };
}

const SPAN = { from_s: 0, to_s: 600, stretch_s: 30 };

it("has what was granted beside what was achieved, each way, to the end of the last stretch", () => {
  const { times, series } = bandwidthLines([point(30, 7), point(60, 8)], SPAN);
  expect(times).toEqual([30, 60, 90]);
  expect(series).toEqual([
    { label: "read", dashed: false, values: [7, 8, 8] },
    { label: "read granted", dashed: true, values: [10, 10, 10] },
    { label: "written", dashed: false, values: [1, 1, 1] },
    { label: "write granted", dashed: true, values: [4, 4, 4] },
  ]);
});

it("breaks lines where nothing is known, and keeps zeros", () => {
  const { times, series } = bandwidthLines([point(30, 0), point(120, 8)], SPAN);
  expect(times).toEqual([30, 60, 90, 120, 150]);
  expect(series[0]?.values).toEqual([0, 0, null, 8, 8]);
});

it("stays within the span, and makes a line of a single stretch", () => {
  const { times, series } = bandwidthLines([point(30, 7)], { ...SPAN, from_s: 41, to_s: 44 });
  expect(times).toEqual([41, 44]);
  expect(series[0]?.values).toEqual([7, 7]);
});

it("has no value of what is not told, and what was granted all the same", () => {
  const untold = { ...point(30, 0), achieved: null, missed: null };
  const { series } = bandwidthLines([untold, point(60, 8)], SPAN);
  expect(series.map((one) => one.values)).toEqual([
    [null, 8, 8],
    [10, 10, 10],
    [null, 1, 1],
    [4, 4, 4],
  ]);
  expect(busiest([untold], 1).map(([tenant]) => tenant)).toEqual(["red"]);
});

it("takes the tenants that were granted or moved most, by name", () => {
  const first = [point(30, 5, "z"), point(30, 1, "m"), point(30, 9, "a")];
  const points = [...first, point(60, 1, "z"), point(60, 1, "a")];
  expect(busiest(points, 2).map(([tenant, own]) => [tenant, own.length])).toEqual([
    ["a", 2],
    ["z", 2],
  ]);
});
