import type { Schemas } from "../../api/client";
import { duration } from "../../format";
import type { Execution } from "./types";

type Progress = Schemas["ProgressView"];

/** How often the page asks, as often as the master reads it: progress is no event. */
const ASK_AGAIN_MS = 5000;

/** After how many milliseconds to ask again; false if its program tells nothing now. */
export function askAgainMs(execution: Execution | undefined): number | false {
  const components = execution?.description.components as { progress?: unknown }[] | undefined;
  return execution?.state === "running" && components?.some((one) => one.progress) ? ASK_AGAIN_MS : false;
}

/** In percent; 100 only when all is done. */
export function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** What it is of, and how long the rest takes. */
export function progressText(progress: Progress): string {
  const words = progress.share === null ? [] : [percent(progress.share)];
  if (progress.text) words.push(progress.text);
  const { remaining_s: rest, remaining_low_s: low, remaining_high_s: high } = progress;
  if (typeof rest === "number" && typeof low === "number") {
    const to = typeof high === "number" ? duration(high) : "unknown";
    words.push(`about ${duration(rest)} left (${duration(low)} to ${to})`);
  }
  return words.join("; ") || "it has told nothing yet";
}
