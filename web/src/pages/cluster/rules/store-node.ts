import type { Schemas } from "../../../api/client";
import { counted, moment, number } from "../../../format";

type Node = Schemas["StorageNodeView"];

/** How a state looks; its word is always beside it. */
export const LOOKS: Record<Node["state"], string> = {
  up: "good",
  slow: "wait",
  failing: "bad",
  away: "bad",
  unknown: "off",
};

/** What a node tells of its disks and of what waits or was set aside. */
export function detailsOf(node: Node): string[] {
  const told = (node.disks ?? []).map(({ name, used }) =>
    used == null ? `${name}: not mounted` : `${name}: ${number(used * 100)} % used`,
  );
  if (node.pending) told.push(`${counted(node.pending, "update")} of listings waiting`);
  if (node.quarantined) told.push(`${node.quarantined} set aside`);
  return told.length === 0 && !node.recon ? ["not told"] : told;
}

/** How the last restart went. */
export function restartText(restart: NonNullable<Node["restart"]>): string {
  const by = restart.author ? ` by ${restart.author}` : "";
  if (restart.ended_s == null) return `begun ${moment(restart.began_s)}${by}; it is under way`;
  const when = `${moment(restart.ended_s)}${by}`;
  if (restart.code == null) return `failed ${when}: its program did not start, or was killed`;
  return `${restart.code === 0 ? "done" : "failed"} ${when}: exit code ${restart.code}`;
}

/** What is to be considered before a restart. */
export function warningOf(node: Node): string {
  if (node.kind === "proxy")
    return "Requests that it serves now end; clients try again, or find another proxy. Transfers that are under way begin anew.";
  return "While it starts, other copies are read, and what is written to it goes elsewhere until replication brings it back.";
}
