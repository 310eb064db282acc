import { useEffect, useRef, useState } from "react";
import type { Schemas } from "./client";
import { follow, type Link } from "./stream";

export type JournalEvent = Schemas["EventView"];

interface Followed {
  executionId?: string;
  allTenants?: boolean;
  /** The journal's id after which to begin; "now": with what happens next; null: not yet. */
  after: number | "now" | null;
}

/** Follows the journal while the component is there; `onEvents` gets batches in order. */
export function useJournal(
  { executionId, allTenants, after }: Followed,
  onEvents: (events: JournalEvent[]) => void,
): Link {
  const [link, setLink] = useState<Link>("connecting");
  const latest = useRef(onEvents);
  latest.current = onEvents;
  useEffect(() => {
    if (after === null) return;
    const stop = new AbortController();
    const query = new URLSearchParams(after === "now" ? {} : { after: String(after) });
    if (executionId) query.set("execution_id", executionId);
    if (allTenants) query.set("all_tenants", "true");
    void follow({
      url: `/api/v1/events?${query}`,
      onMessages: (messages) => {
        const events = messages
          .filter((m) => m.event !== "end")
          .map((m) => JSON.parse(m.data) as JournalEvent);
        if (events.length > 0) latest.current(events);
      },
      onLink: setLink,
      signal: stop.signal,
    });
    return () => stop.abort();
  }, [executionId, allTenants, after]);
  return link;
}
