import type { Schemas } from "../../../api/client";

export type Controller = Schemas["StorageControllerView"];
export type Mode = Controller["mode"];

export const MODES: Record<Mode, string> = { on: "On", dry: "Dry run", off: "Off" };
const BANDWIDTH = "bandwidth";

/** What a change of mode means for everybody who uses the store; empty for one that needs no second thought. */
export function stepOf({ name, mode }: { name: string; mode: Mode }): string {
  if (name !== BANDWIDTH || mode === "on") return "";
  const lifted =
    "All limits are lifted: each tenant moves what it can, and no SLO is kept until it is on again.";
  return mode === "off" ? lifted : `${lifted} Limits are still computed, and told here.`;
}

/** Whether the condition of a rule holds; other controllers have none. */
export function conditionText({ kind, mode, active }: Controller): string {
  if (kind !== "rule" || mode === "off") return "";
  if (active == null) return "not judged yet";
  if (mode === "dry") return active ? "holds: it would be on" : "does not hold: it would be off";
  return active ? "holds: it is on" : "does not hold: it is off";
}

/** What does not hold by the modes of controllers. */
export function warningsOf(controllers: Controller[]): string[] {
  return controllers.map((one) => one.warning).filter((text) => text !== "");
}
