import { useEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { follow, type Link } from "../../api/stream";
import { fromBase64, LogLines } from "./log-lines";

type Chunk = Schemas["LogChunkView"];

interface LogState {
  lines: string[];
  /** Bytes or lines that are not there any more, in words; empty when all is there. */
  missing: string;
  /** Why nothing can be read now. */
  waiting: string;
  complete: boolean;
  link: Link;
}

const SHOW_MS = 100;
const NOTHING: LogState = { lines: [], missing: "", waiting: "", complete: false, link: "connecting" };

/** The output of a service from its beginning, followed to its end. */
export function useLog(executionId: string, serviceId: string): LogState {
  const [state, setState] = useState<LogState>(NOTHING);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const log = new LogLines();
    let droppedBytes = 0;
    let atLeast = "";
    setState(NOTHING);
    const show = (more: Partial<LogState>) => {
      const lines = `${log.dropped} earlier lines are not shown`;
      const bytes = `${atLeast}${droppedBytes} bytes are no longer kept`;
      const missing = [log.dropped > 0 ? lines : "", droppedBytes > 0 ? bytes : ""]
        .filter(Boolean)
        .join("; ");
      setState((before) => ({ ...before, ...more, lines: log.all(), missing }));
    };
    void follow({
      url: `/api/v1/executions/${executionId}/services/${serviceId}/logs/stream`,
      onMessages: (messages) => {
        let waiting = "";
        let complete = false;
        for (const { event, data } of messages) {
          if (event === "log") {
            const chunk = JSON.parse(data) as Chunk;
            log.add(fromBase64(chunk.data));
            droppedBytes += chunk.dropped_bytes ?? 0;
            if (chunk.dropped_at_least) atLeast = "at least ";
          }
          if (event === "waiting") waiting = String((JSON.parse(data) as { why?: unknown }).why ?? "");
          if (event === "end") complete = true;
        }
        if (waiting || complete) {
          show({ waiting, complete });
          return;
        }
        timer.current ??= setTimeout(() => {
          timer.current = null;
          if (!stop.signal.aborted) show({ waiting: "" });
        }, SHOW_MS);
      },
      onLink: (link) => setState((before) => ({ ...before, link })),
      signal: stop.signal,
    });
    return () => {
      stop.abort();
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [executionId, serviceId]);
  return state;
}
