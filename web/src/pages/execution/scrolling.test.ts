import { expect, it } from "vitest";
import { LINE_PX, leftTheEnd } from "./scrolling";

const box = (scrollTop: number, lines: number) => ({
  scrollTop,
  scrollHeight: lines * LINE_PX,
  clientHeight: 400,
});

it("goes on to follow when lines have come since it scrolled to the end", () => {
  expect(leftTheEnd(0, box(1600, 500))).toBe(false);
  expect(leftTheEnd(1600, box(1600, 500))).toBe(false);
});

it("stops to follow when somebody scrolls up by more than some lines", () => {
  expect(leftTheEnd(1600, box(1000, 100))).toBe(true);
  expect(leftTheEnd(1600, box(1500, 100))).toBe(false);
});

it("goes on to follow when there is less to show than before", () => {
  expect(leftTheEnd(1600, box(0, 10))).toBe(false);
});
