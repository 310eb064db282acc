import { expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { isInForce, withDrain, withoutHold } from "./holds";

const FIRST = { tenant: null, since_s: 100, until_s: 200, note: "kernel" };
const SECOND = { tenant: null, since_s: 300, until_s: 400, note: "disks" };
const OPEN = { tenant: "lab", since_s: 50, until_s: null, note: "" };
const POLICY = {
  node_holds: { n1: OPEN, n2: OPEN },
  node_windows: { n1: [FIRST, SECOND] },
} as unknown as Schemas["PolicyView"];

it("releases one hold of a node and keeps the others", () => {
  const without = withoutHold(POLICY, "n1", { ...SECOND });
  expect(without.node_windows).toEqual({ n1: [FIRST] });
  expect(without.node_holds).toEqual(POLICY.node_holds);
  expect(withoutHold(POLICY, "n1", { ...OPEN }).node_holds).toEqual({ n2: OPEN });
});

it("drains beside windows, also beside one that an older version stored as the hold", () => {
  const drained = { tenant: null, since_s: 7, until_s: null, note: "drained in the web UI" };
  const policy = withDrain(
    { ...POLICY, node_holds: { n1: SECOND }, node_windows: { n1: [FIRST] } },
    "n1",
    7000,
  );
  expect(policy.node_holds).toEqual({ n1: drained });
  expect(policy.node_windows).toEqual({ n1: [FIRST, SECOND] });
});

it("knows which holds have begun", () => {
  expect([99_000, 100_000].map((now) => isInForce(FIRST, now))).toEqual([false, true]);
});
