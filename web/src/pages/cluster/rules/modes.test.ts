import { expect, test } from "vitest";
import { type Controller, conditionText, stepOf, warningsOf } from "./modes";

const RULE: Controller = {
  name: "rule-7",
  kind: "rule",
  what: "",
  mode: "on",
  active: true,
  last: "",
  runs: 1,
  failures: 0,
  problem: "",
  waits_s: 0,
  warning: "",
  switches: [],
};

test("only what lifts limits needs a second thought", () => {
  expect(stepOf({ name: "bandwidth", mode: "off" })).toContain("All limits are lifted");
  expect(stepOf({ name: "bandwidth", mode: "dry" })).toContain("still computed");
  expect(stepOf({ name: "bandwidth", mode: "on" })).toBe("");
  expect(stepOf({ name: "rule-7", mode: "off" })).toBe("");
});

test("conditions are of rules that are judged", () => {
  expect(conditionText(RULE)).toBe("holds: it is on");
  expect(conditionText({ ...RULE, active: false })).toBe("does not hold: it is off");
  expect(conditionText({ ...RULE, mode: "dry" })).toBe("holds: it would be on");
  expect(conditionText({ ...RULE, active: null })).toBe("not judged yet");
  expect(conditionText({ ...RULE, mode: "off", active: null })).toBe("");
  expect(conditionText({ ...RULE, kind: "metric", active: null })).toBe("");
});

test("warnings are those of all controllers", () => {
  expect(warningsOf([RULE, { ...RULE, warning: "no SLO is kept" }])).toEqual(["no SLO is kept"]);
});
