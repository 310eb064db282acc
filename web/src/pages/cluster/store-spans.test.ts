import { expect, test } from "vitest";
import { rulesText, stretches, totalOf, within } from "./store-spans";

const point = (at_s: number) => ({ at_s, read_bytes: 10, written_bytes: 1 });

test("stretches that follow each other are one", () => {
  expect(stretches([point(0), point(30), point(60.001), point(120)], 30)).toEqual([
    [0, 90.001],
    [120, 150],
  ]);
  expect(stretches([], 30)).toEqual([]);
  expect(totalOf([point(0), point(30)], "read_bytes")).toBe(20);
});

test("a time is on the axis, and never too short to be seen", () => {
  expect(within(25, 75, 0, 100, 200)).toEqual({ x: 50, width: 100 });
  expect(within(-50, 10, 0, 100, 200)).toEqual({ x: 0, width: 20 });
  expect(within(50, 50, 0, 100, 200)).toEqual({ x: 100, width: 1 });
});

test("each rule is named once", () => {
  expect(
    rulesText([
      { rule: 3, filter: "COMPRESSION", way: "read", requests: 2 },
      { rule: 3, filter: "COMPRESSION", way: "write", requests: 1 },
      { rule: null, filter: "BANDWIDTH", way: "read", requests: 1 },
    ]),
  ).toBe("rule 3: COMPRESSION, held up by a limit of bandwidth");
});
