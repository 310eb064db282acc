import { expect, test } from "vitest";
import type { Schemas } from "../../../api/client";
import { standingOf } from "./standing";

const RULE: Schemas["StorageRuleView"] = {
  id: 7,
  target: "acme",
  rule: "FOR TENANT acme WHEN busy > 5 DO SET CACHING",
  enforced: true,
  mode: "on",
  metrics: {},
  modules: [],
};
const BUSY: Schemas["StorageMetricView"] = {
  name: "BUSY",
  source: "python",
  text: "",
  mode: "on",
  created_s: 0,
  values: [],
  values_count: 0,
  problem: "",
  rules: [7],
};

function controller(active: boolean | null): Schemas["StorageControllerView"][] {
  const rest = { last: "", runs: 1, failures: 0, problem: "", waits_s: 0, warning: "", switches: [] };
  return [{ name: "rule-7", kind: "rule", what: RULE.rule, mode: "on", active, ...rest }];
}

test("a rule without metrics is carried out where proxies have its filters", () => {
  expect(standingOf(RULE, [], [])).toBe("yes");
  expect(standingOf({ ...RULE, enforced: false }, [], [])).toContain("do not have all of its filters");
});

test("a rule with metrics is on, off, or waits for a value", () => {
  const known = { ...RULE, metrics: { BUSY: 3 } };
  expect(standingOf(known, controller(true), [BUSY])).toBe("on now");
  expect(standingOf(known, controller(false), [BUSY])).toBe("off now: its condition does not hold");
  expect(standingOf(RULE, controller(null), [])).toContain("waits for its metric");
});

test("what a rule waits for has its reason", () => {
  const standing = (change: Partial<typeof BUSY>) =>
    standingOf(RULE, controller(false), [{ ...BUSY, ...change }]);
  expect(standing({})).toBe("off now: it waits for BUSY (not measured yet)");
  expect(standing({ problem: "3 seconds are over" })).toContain("BUSY (3 seconds are over)");
  expect(standing({ mode: "dry", values_count: 2 })).toContain("BUSY (which is in a dry run)");
  expect(standing({ mode: "off" })).toContain("BUSY (which is off)");
  expect(standing({ source: "none" })).toContain("BUSY (which nothing measures)");
  expect(standing({ values_count: 2 })).toContain("no value for the rule's target");
  expect(standing({ rules: [8] })).toContain("waits for its metric");
});

test("a dry run tells what it would be", () => {
  const dry = { ...RULE, mode: "dry" as const, enforced: false, metrics: { BUSY: 9 } };
  expect(standingOf(dry, controller(true), [BUSY])).toBe("dry run, so no proxy has it; it would be on now");
  expect(standingOf({ ...dry, mode: "off" }, controller(true), [BUSY])).toBe("off");
});
