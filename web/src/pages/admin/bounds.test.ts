import { expect, test } from "vitest";
import { read, readHours, written, writtenHours } from "./bounds";

test("an empty field is no bound", () => {
  expect([read(""), readHours("")]).toEqual([null, null]);
  expect([written(null), writtenHours(null)]).toEqual(["", ""]);
});

test("nothing at all is a bound, too", () => {
  expect([read("0"), written(0)]).toEqual([0, "0"]);
});

test("a time limit is typed in hours and kept in seconds", () => {
  expect([readHours("12"), readHours("0.5")]).toEqual([43_200, 1800]);
  expect([writtenHours(43_200), writtenHours(1800)]).toEqual(["12", "0.5"]);
});
