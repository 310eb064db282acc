import type { Schemas } from "../api/client";

export type Hold = Schemas["NodeHoldView"];
type Policy = Schemas["PolicyView"];

/** Whether a hold, which has not ended, has begun. */
export function isInForce(hold: Hold, nowMs = Date.now()): boolean {
  return (hold.since_s ?? 0) * 1000 <= nowMs;
}

/** The policy with a node drained from now on. Another hold without an end is replaced. */
export function withDrain(policy: Policy, node: string, nowMs = Date.now()): Policy {
  const present = policy.node_holds?.[node];
  const drained = { tenant: null, since_s: nowMs / 1000, until_s: null, note: "drained in the web UI" };
  const windows = present?.until_s ? [...(policy.node_windows?.[node] ?? []), present] : null;
  return {
    ...policy,
    node_holds: { ...policy.node_holds, [node]: drained },
    node_windows: windows ? { ...policy.node_windows, [node]: windows } : policy.node_windows,
  };
}

/** The policy without one hold of a node; its other holds stay. */
export function withoutHold(policy: Policy, node: string, hold: Hold): Policy {
  const holds = { ...policy.node_holds };
  const windows = [...(policy.node_windows?.[node] ?? [])];
  const place = windows.findIndex((one) => isAlike(one, hold));
  if (place >= 0) windows.splice(place, 1);
  else if (holds[node] && isAlike(holds[node], hold)) delete holds[node];
  return { ...policy, node_holds: holds, node_windows: { ...policy.node_windows, [node]: windows } };
}

function isAlike(one: Hold, other: Hold): boolean {
  return (
    one.since_s === other.since_s &&
    one.until_s === other.until_s &&
    one.tenant === other.tenant &&
    one.note === other.note
  );
}
