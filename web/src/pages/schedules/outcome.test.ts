import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { outcome, placeOf, wished } from "./outcome";

const RUN: Schemas["ScheduleRunView"] = {
  due_s: 1,
  at_s: 1,
  outcome: "made",
  kind: "workflow",
  run_id: "w1",
  code: "",
  message: "",
  number: 1,
  state: "running",
};

test("a run leads to its page", () => {
  expect(outcome(RUN)).toBe("running");
  expect(placeOf(RUN)).toBe("/workflows/w1");
  expect(placeOf({ ...RUN, state: null })).toBe(null);
  expect(outcome({ ...RUN, state: null })).toBe("removed");
});

test("what did not run says why", () => {
  const none = { ...RUN, kind: null, run_id: null, state: null };
  expect(outcome({ ...none, outcome: "missed", number: 3 })).toBe("missed, 3 times");
  expect(outcome({ ...none, outcome: "refused", message: "too many" })).toBe("refused: too many");
  expect(placeOf(none)).toBe(null);
});

test("what is asked of a schedule's runs", () => {
  expect(wished({ finish_by: null, confidence: null, ahead_s: 0 })).toBe("");
  expect(wished({ finish_by: "08:00 Europe/Paris", confidence: null, ahead_s: 0 })).toBe(
    "Each run is to be promised to end by 08:00 Europe/Paris, with 90% confidence.",
  );
  expect(wished({ finish_by: "+3h", confidence: 0.95, ahead_s: 21600 })).toContain(
    "95% confidence. It is submitted 6 h",
  );
});
