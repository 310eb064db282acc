import { expect, it } from "vitest";
import { stateSentence } from "./sentence";
import type { Execution } from "./types";

const BASE = {
  submitted_at_s: 100,
  marks: {},
  services: [],
  core_ready: 1,
  core_total: 3,
  elastic_ready: 0,
  elastic_total: 0,
  exit_code: null,
};
const told = (more: object, nowS: number) =>
  stateSentence({ ...BASE, ...more } as unknown as Execution, nowS);

it("says how an execution is, in one sentence", () => {
  expect(told({ state: "queued" }, 220)).toBe("It has waited for 2 min 0 s.");
  expect(told({ state: "starting" }, 220)).toBe("It is starting: 1 of 3 essential services ready.");
  const services = [
    { state: "ready", node: "b" },
    { state: "ready", node: "a" },
    { state: "lost", node: "c" },
  ];
  const running = { state: "running", marks: { ready: 200 }, services, elastic_ready: 1, elastic_total: 2 };
  expect(told(running, 220)).toBe("It has been running for 20 s on a, b, with 1 of 2 elastic services.");
});

it("says how it ended, with the exit code of a failure", () => {
  const marks = { placed: 110, started: 112, ended: 150 };
  expect(told({ state: "failed", marks, exit_code: 3 }, 160)).toBe(
    "It failed 10 s ago, after 40 s, with exit code 3.",
  );
  expect(told({ state: "cancelled", marks: { ended: 150 } }, 160)).toBe(
    "It was cancelled 10 s ago, before it started.",
  );
  expect(told({ state: "succeeded", marks, exit_code: 0 }, 160)).toBe("It succeeded 10 s ago, after 40 s.");
});
