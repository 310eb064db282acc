import { expect, test } from "vitest";
import { arrayOf, isArray } from "./ids";

test.each([
  ["a1m7xhnzn3f4144_12", "a1m7xhnzn3f4144"],
  ["a1m7xhnzn3f4144_0r2", "a1m7xhnzn3f4144"],
  ["x1m7xhnzn3f4144", null],
  ["a1m7xhnzn3f4144", null],
])("%s belongs to %s", (id, array) => {
  expect(arrayOf(id)).toBe(array);
  expect(isArray(id)).toBe(id.startsWith("a") && array === null);
});
