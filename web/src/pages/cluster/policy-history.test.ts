import { expect, it } from "vitest";
import type { Policy } from "./policy-api";
import { before, changedSince, changesIn } from "./policy-history";

const entry = {
  id: 1,
  at_s: 5,
  user: "ada",
  tenant: "t",
  action: "set_policy",
  target: "/api/v1/policy",
  request_id: "r",
  by: "session",
  address: "",
  status: 200,
};
const order = {
  ...entry,
  changes: { version: [3, 4], order: ["size", "fifo"], tenant_shares: [{}, { a: 1, b: 2 }] },
};

it("lists what was changed, without refusals and changes of nodes", () => {
  const drained = { ...entry, id: 2, changes: { version: [4, 5], node_holds: [{}, { a: {} }] } };
  const found = changesIn([drained, { ...order, id: 3, status: 403 }, order]);
  expect(found.map(({ id, settings }) => [id, settings.length])).toEqual([[1, 2]]);
});

it("takes a change back only while its settings are as it left them", () => {
  const [change] = changesIn([order]);
  const present = {
    version: 6,
    order: "fifo",
    ageing_s: 9,
    tenant_shares: { b: 2, a: 1 },
  } as unknown as Policy;
  if (change === undefined) throw new Error("no change");
  expect(changedSince(change, present)).toEqual([]);
  expect(before(change, present)).toEqual({ version: 6, order: "size", ageing_s: 9, tenant_shares: {} });
  expect(changedSince(change, { ...present, order: "drf" } as unknown as Policy)).toEqual(["order"]);
});
