import type { Schemas } from "../../api/client";
import { bytes, counted } from "../../format";

// A change that would help, in words.
export function changeText(change: Schemas["ChangeView"]): string {
  const show = {
    essential_count: (count: number) => counted(count, "essential instance"),
    memory_bytes: (amount: number) => `${bytes(amount)} of memory`,
    cores_milli: (milli: number) => counted(milli / 1000, "core"),
  }[change.part];
  return `${change.component}: ${show(change.after)} instead of ${show(change.before)}`;
}
