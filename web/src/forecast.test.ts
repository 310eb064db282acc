import { expect, it } from "vitest";
import { expectedText } from "./forecast";
import { moment } from "./format";

it("says no time that has passed as if it came", () => {
  expect(expectedText(200, 260, 100)).toBe(
    `about ${moment(200)} (p50), by ${moment(260)} (p90, in 2 min 40 s)`,
  );
  expect(expectedText(200, 260, 230)).toBe(`soon, by ${moment(260)} (p90, in 30 s)`);
  expect(expectedText(null, 260, 230)).toBe(`by ${moment(260)} (p90, in 30 s)`);
  expect(expectedText(200, 260, 261)).toBe(`soon; it was expected by ${moment(260)}`);
});
