import { expect, it } from "vitest";
import { askAgainMs, progressText } from "./progress";
import type { Execution } from "./types";

const TOLD = { share: 0.999, at_s: 0, text: "", problem: "" };

it("says how far it is, and how long the rest takes", () => {
  expect(progressText(TOLD)).toBe("99 %");
  expect(progressText({ ...TOLD, share: null })).toBe("it has told nothing yet");
  const rest = { remaining_s: 60, remaining_low_s: 30, remaining_high_s: null };
  expect(progressText({ ...TOLD, text: "3 of 9 tasks", ...rest })).toBe(
    "99 %; 3 of 9 tasks; about 1 min 0 s left (30 s to unknown)",
  );
});

it("asks again only while something can be told", () => {
  const running = { state: "running", description: { components: [{}, { progress: {} }] } };
  expect(askAgainMs(running as unknown as Execution)).toBe(5000);
  expect(askAgainMs({ ...running, state: "succeeded" } as unknown as Execution)).toBe(false);
  expect(askAgainMs({ ...running, description: { components: [{}] } } as unknown as Execution)).toBe(false);
  expect(askAgainMs(undefined)).toBe(false);
});
