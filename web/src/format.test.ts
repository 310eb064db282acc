import { expect, it } from "vitest";
import { bytes, counted, distance, duration, rate } from "./format";
import { sizeOf } from "./pages/execution/demands";

it("tells sizes and times in words", () => {
  expect(bytes(1536)).toBe("1.5 KiB");
  expect(bytes(2 ** 31)).toBe("2 GiB");
  expect(counted(1, "service")).toBe("1 service");
  expect(counted(0.1, "core")).toBe("0.1 cores");
  expect(duration(0.25)).toBe("0.3 s");
  expect(duration(3661)).toBe("1 h 1 min");
  expect(distance(100, 40)).toBe("in 1 min 0 s");
  expect(distance(40, 100)).toBe("1 min 0 s ago");
});

it("tells rates in the unit that fits, so that what is slow is not nothing", () => {
  expect([0, 0.3, 7.4, 999].map(rate)).toEqual(["0 B/s", "under 1 B/s", "7 B/s", "999 B/s"]);
  expect([999.7, 1_000, 40_000, 99_960].map(rate)).toEqual(["1.0 kB/s", "1.0 kB/s", "40.0 kB/s", "100 kB/s"]);
  expect([999_499, 999_600, 7e6, 200e6].map(rate)).toEqual(["999 kB/s", "1.0 MB/s", "7.0 MB/s", "200 MB/s"]);
  expect([1.25e9, 2e12, 5e15].map(rate)).toEqual(["1.3 GB/s", "2.0 TB/s", "5000 TB/s"]);
});

it("reads sizes of descriptions", () => {
  expect(sizeOf("2GiB")).toBe(2 ** 31);
  expect(sizeOf("500MB")).toBe(500e6);
  expect(sizeOf(7)).toBe(7);
});
