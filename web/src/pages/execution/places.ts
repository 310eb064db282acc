/** Where an input lies, in words: what the nodes that matter hold of it. */

import type { Schemas } from "../../api/client";
import { bytes, counted } from "../../format";

const NODES_MAX = 3;

/** Nodes with services of the execution, else those that hold most. */
export function placesText(one: Schemas["InputPlacesView"]): string {
  const objects = one.objects ?? 0;
  if (!one.known) return "Zoe does not know which nodes hold its objects";
  if (objects === 0) return "it has no objects";
  const nodes = one.nodes ?? [];
  const serving = nodes.filter((held) => held.services > 0);
  const shown = serving.length > 0 ? serving : nodes.slice(0, NODES_MAX);
  if (shown.length === 0) return `no node holds any of its ${counted(objects, "object")}`;
  const told = shown.map(
    (held) =>
      `${held.objects} of ${counted(objects, "object")} (${bytes(held.bytes)} of ${bytes(one.bytes ?? 0)}) on node ` +
      held.node +
      (held.services > 0 ? `, which has ${counted(held.services, "service")} of it` : ""),
  );
  return told.join("; ") + sampleText(one);
}

function sampleText(one: Schemas["InputPlacesView"]): string {
  const listed = one.listed ?? 0;
  if (one.complete === false) return ` (a sample of more than ${listed})`;
  return listed > (one.objects ?? 0) ? ` (a sample of ${listed})` : "";
}
