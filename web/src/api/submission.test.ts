import { expect, it } from "vitest";
import { OneAtATime, SubmissionKeys } from "./submission";

it("has a key for each content, until that has become an execution", () => {
  const keys = new SubmissionKeys();
  const first = keys.keyOf("a");
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(keys.keyOf("a")).toBe(first);
  const second = keys.keyOf("b");
  expect(second).not.toBe(first);
  keys.used();
  expect([first, second]).not.toContain(keys.keyOf("b"));
});

it("begins one at a time", () => {
  const turn = new OneAtATime();
  expect([turn.begin(), turn.begin(), turn.begin()]).toEqual([true, false, false]);
  turn.end();
  expect(turn.begin()).toBe(true);
});
