import { expect, it } from "vitest";
import { bytes, number, rate } from "../format";
import { around, lastHours, ticksText, timesText } from "./plot-axes";

const at = (text: string) => new Date(text).getTime() / 1000;

it("writes days where ticks are days apart, and seconds only where they matter", () => {
  expect(timesText([at("2026-11-24T00:00:00"), at("2026-11-25T00:00:00")], 86_400)).toEqual([
    "24 Nov",
    "25 Nov",
  ]);
  expect(timesText([at("2026-11-24T23:30:00"), at("2026-11-25T00:00:00")], 1800)).toEqual([
    "23:30",
    "25 Nov",
  ]);
  expect(timesText([at("2026-11-24T09:09:30"), at("2026-11-24T09:09:35")], 5)).toEqual([
    "09:09:30",
    "09:09:35",
  ]);
});

it("tells any two ticks apart", () => {
  expect(ticksText([0, 0.025, 0.05], 0.025, number)).toEqual(["0", "0.025", "0.05"]);
  expect(ticksText([0, 0.0002, 0.0004], 0.0002, number)).toEqual(["0", "0.0002", "0.0004"]);
  expect(ticksText([0, 2000], 2000, number)).toEqual(["0", "2,000"]);
  expect(ticksText([0, 2 ** 43], 2 ** 43, bytes)).toEqual(["0 B", "8 TiB"]);
  expect(ticksText([0, 20_000, 40_000], 20_000, rate)).toEqual(["0 kB/s", "20 kB/s", "40 kB/s"]);
  expect(ticksText([1e6, 1.02e6, 1.04e6], 20_000, rate)).toEqual(["1 MB/s", "1.02 MB/s", "1.04 MB/s"]);
  expect(ticksText([0, 500], 500, rate)).toEqual(["0 B/s", "500 B/s"]);
});

it("one time has a period around it, and hours end now", () => {
  expect(around([100])).toEqual({ from_s: 40, to_s: 160 });
  expect(around([])).toBeNull();
  expect(around([1, 2])).toBeNull();
  expect(lastHours(2, 10_000.5)).toEqual({ from_s: 2800, to_s: 10_000 });
});
