import type { JournalEvent } from "../../api/journal";
import { useNow } from "../../components/now";
import { distance, moment } from "../../format";
import type { Execution } from "./types";

/** That nobody has used an interactive application for long, and when it will be ended if that stays so. */
export function IdleWarning({ execution, events }: { execution: Execution; events: JournalEvent[] }) {
  const now = useNow(10_000);
  const warned = events.findLast((event) => event.kind === "idle_warned");
  const endsAtS = Number(warned?.data.ends_at_s ?? 0);
  if (!warned || execution.state !== "running" || endsAtS <= now) return null;
  return (
    <p className="notice" role="status">
      Nobody had used it for long at {moment(warned.at_s)}: it is ended at {moment(endsAtS)} (
      {distance(endsAtS, now)}) unless somebody opens it or works in it.
    </p>
  );
}
