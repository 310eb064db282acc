import { duration } from "../../format";
import type { Execution } from "./types";

/** The page asks for measurements this often. */
export const ASK_AGAIN_S = 5;
type Services = Pick<Execution, "services">;

/** When the first measurement of services that run is shown, given the pause between two of them, in seconds. */
export function firstSampleText({ services }: Services, intervalS: number, nowS: number): string {
  const every = `Cores and memory are measured every ${duration(intervalS)}`;
  const starts = services.flatMap((one) => one.started_at_s ?? []);
  if (starts.length === 0) return `${every}, once a service has started.`;
  const waitS = Math.min(...starts) + intervalS + ASK_AGAIN_S - nowS;
  return waitS > 0
    ? `${every}; the first measurement is shown within ${duration(waitS)}.`
    : `${every}; the back-end has not reported any yet.`;
}
