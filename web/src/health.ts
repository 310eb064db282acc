import type { Schemas } from "./api/client";
import { asRefused, passes } from "./api/problem";

type Status = Pick<Schemas["StatusView"], "master" | "submissions_closed">;

/** What users are to know of the state of Zoe, first what is worst; `operates`: whether they may submit at any time. */
export function healthTexts(data: Status | undefined, error: unknown, operates: boolean): string[] {
  if (error) {
    const { status, message } = asRefused(error);
    if (status === 503)
      return [
        "The database does not answer. Running applications continue; lists, submissions and cancellations wait for it.",
      ];
    if (passes(error)) return ["Zoe does not answer. This page shows earlier data and retries by itself."];
    return [message];
  }
  const texts = [];
  if (data?.master === null)
    texts.push(
      "The master is not reachable. Running applications continue; submissions and cancellations are accepted and done later; live logs, charts, plans and forecasts wait for it.",
    );
  if (data?.submissions_closed)
    texts.push(
      `Submissions are closed: ${data.submissions_closed}. ${operates ? "Operators and admins can submit." : "What was submitted earlier runs on."}`,
    );
  return texts;
}
