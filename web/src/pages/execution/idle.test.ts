import { expect, it } from "vitest";
import { idleEndS, idleSentence } from "./idle";

it.each([
  [{ idle_after_s: 0, idle_warning_s: 600, idle_cores_milli: 100 }, "It is not ended when nobody uses it."],
  [
    { idle_after_s: 3600, idle_warning_s: 600, idle_cores_milli: 0 },
    "It is ended when nobody has used it for 1 h 10 min.",
  ],
  [
    { idle_after_s: 3600, idle_warning_s: 600, idle_cores_milli: 100 },
    "It is ended when nobody has used it for 1 h 10 min, and computes nothing.",
  ],
])("says when idleness ends it: %j", (policy, sentence) => {
  expect(idleSentence(policy)).toBe(sentence);
});

it("says when it ends once its users are warned", () => {
  const policy = { idle_after_s: 3600, idle_warning_s: 600, idle_cores_milli: 100 };
  expect(idleEndS({ state: "running", marks: { idle_warned: 1000 } }, policy)).toBe(1600);
  expect(idleEndS({ state: "running", marks: {} }, policy)).toBeNull();
  expect(idleEndS({ state: "stopping", marks: { idle_warned: 1000 } }, policy)).toBeNull();
});
