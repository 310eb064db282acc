import { expect, it } from "vitest";
import { loadOf } from "./load-of";

const NODE = {
  ready: true,
  hold: null,
  cores: 4,
  reserved_cores: 1.5,
  memory_bytes: 100,
  reserved_memory_bytes: 30,
};

it("counts nodes in service only, and what waits with what was just submitted", () => {
  const drained = { ...NODE, hold: { tenant: null, since_s: 0, until_s: null, note: "" } };
  const load = loadOf([NODE, { ...NODE, ready: false }, drained], {
    running: 2,
    queued: 1,
    submitted: 1,
    failed: 9,
  });
  expect(load.cores).toEqual({ reserved: 1.5, total: 4 });
  expect(load.memory).toEqual({ reserved: 30, total: 100 });
  expect([load.running, load.waiting]).toEqual([2, 2]);
  const later = { ...NODE, hold: { tenant: null, since_s: 1e11, until_s: null, note: "" } };
  expect(loadOf([later], {}).cores.total).toBe(4);
});
