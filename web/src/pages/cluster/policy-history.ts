/** Changes of the policy, as the audit log holds them. */

import { api, type Schemas, told } from "../../api/client";
import type { Policy } from "./policy-api";

export interface PolicyChange {
  id: number;
  atS: number;
  user: string;
  /** Old and new value of each setting; drains and reservations are changes of nodes. */
  settings: [string, unknown, unknown][];
}

const OF_NODES = ["version", "node_holds", "node_windows"];
const SHOWN_MAX = 20;

/** The newest changes first; for admins. */
export async function policyChanges(): Promise<PolicyChange[]> {
  const query = { action: "set_policy", limit: 100 };
  return changesIn((await told(api.GET("/api/v1/admin/audit", { params: { query } }))).entries);
}

export function changesIn(entries: Schemas["AuditEntryView"][]): PolicyChange[] {
  return entries
    .filter((entry) => entry.status === 200)
    .map((entry) => ({ id: entry.id, atS: entry.at_s, user: entry.user, settings: settingsOf(entry) }))
    .filter((change) => change.settings.length > 0)
    .slice(0, SHOWN_MAX);
}

function settingsOf({ changes = {} }: Schemas["AuditEntryView"]): [string, unknown, unknown][] {
  return Object.entries(changes)
    .filter(([name]) => !OF_NODES.includes(name))
    .map(([name, [before, after]]) => [name, before, after]);
}

/** The settings of a change that have another value by now, so that it cannot be taken back alone. */
export function changedSince(change: PolicyChange, present: Policy): string[] {
  return change.settings
    .filter(([name, , after]) => !same(present[name as keyof Policy], after))
    .map(([name]) => name);
}

/** The policy without a change: as it was before. */
export function before(change: PolicyChange, present: Policy): Policy {
  return { ...present, ...Object.fromEntries(change.settings.map(([name, old]) => [name, old])) };
}

function same(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other);
}

/** JSON whose keys are in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
