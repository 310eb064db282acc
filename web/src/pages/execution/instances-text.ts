import type { Schemas } from "../../api/client";

/** How many instances of a component have a place, are preferred, and are possible. */
export function instancesText({ component, given, preferred, total }: Schemas["InstancesView"]): string {
  const wish = preferred < total ? `, preferred ${preferred}` : "";
  return `Instances of ${component}: ${given} of ${total}${wish}`;
}
