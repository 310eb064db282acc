import { expect, it } from "vitest";
import { eventDetails } from "./event-details";

const NAMES = new Map([["x1.main.0.1", "main-0"]]);

it("says nothing of an event without details", () => {
  expect(eventDetails({}, NAMES)).toBe("");
  expect(eventDetails({ places: [], note: "", exit_code: null, inputs: {} }, NAMES)).toBe("");
});

it("names services and nests what belongs together", () => {
  const data = { places: [], placements: [{ node: "local", service_id: "x1.main.0.1" }], exit_code: 0 };
  expect(eventDetails(data, NAMES)).toBe("placements: node: local, service: main-0, exit code: 0");
  expect(eventDetails({ causes: ["a", "b"], forced: false }, NAMES)).toBe("causes: a; b, forced: false");
});
