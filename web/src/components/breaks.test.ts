import { expect, it } from "vitest";
import { withBreaks } from "./breaks";

it("has a time without a value where samples are missing, and only there", () => {
  expect(withBreaks([0, 5, 10, 100, 105])).toEqual([0, 5, 10, 55, 100, 105]);
  expect(withBreaks([0, 5, 11, 15])).toEqual([0, 5, 11, 15]);
  expect(withBreaks([])).toEqual([]);
});
