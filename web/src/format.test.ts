import { expect, it } from "vitest";
import { bytes, counted, distance, duration } from "./format";
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

it("reads sizes of descriptions", () => {
  expect(sizeOf("2GiB")).toBe(2 ** 31);
  expect(sizeOf("500MB")).toBe(500e6);
  expect(sizeOf(7)).toBe(7);
});
