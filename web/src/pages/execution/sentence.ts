import { counted, distance, duration, runS } from "../../format";
import type { Execution } from "./types";

/** How an execution is, in one sentence. Times are seconds since the epoch. */
export function stateSentence(execution: Execution, nowS: number): string {
  const { marks } = execution;
  const up = marks.ready ?? marks.started;
  switch (execution.state) {
    case "submitted":
      if (execution.reason)
        return `Submitted ${distance(execution.submitted_at_s, nowS)}. ${execution.reason.sentence}`;
      return `Submitted ${distance(execution.submitted_at_s, nowS)}, not queued yet.`;
    case "queued":
      return `It has waited for ${duration(nowS - execution.submitted_at_s)}.`;
    case "starting":
      return `It is starting: ${execution.core_ready} of ${counted(execution.core_total, "essential service")} ready.`;
    case "running":
      return `It has been running for ${duration(nowS - (up ?? nowS))}${whereText(execution)}.`;
    case "stopping":
      return "It is stopping.";
    default:
      return endSentence(execution, nowS);
  }
}

const ENDS = { succeeded: "It succeeded", failed: "It failed", cancelled: "It was cancelled" };

function endSentence(execution: Execution, nowS: number): string {
  const { state, marks, exit_code } = execution;
  const end = ENDS[state as keyof typeof ENDS];
  const when = marks.ended === undefined ? "" : ` ${distance(marks.ended, nowS)}`;
  const ranS = runS(execution);
  const ran = ranS === null ? ", before it started" : `, after ${duration(ranS)}`;
  const code = state === "failed" && exit_code !== null ? `, with exit code ${exit_code}` : "";
  return `${end}${when}${ran}${code}.`;
}

const NODES_MAX = 3;

function whereText({ services, elastic_ready, elastic_total }: Execution): string {
  const nodes = new Set(services.flatMap((one) => (one.state === "ready" && one.node ? [one.node] : [])));
  const names = [...nodes].sort();
  const where =
    names.length > NODES_MAX
      ? ` on ${counted(names.length, "node")}`
      : names.length > 0
        ? ` on ${names.join(", ")}`
        : "";
  return elastic_total === 0
    ? where
    : `${where}, with ${elastic_ready} of ${counted(elastic_total, "elastic service")}`;
}
