import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];
export type Diagnostic = components["schemas"]["Diagnostic"];

/** What the API refused, in its own words (RFC 9457); status 0: nothing answered at all. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly errors: Diagnostic[] = [],
  ) {
    super(message);
  }
}

export const UNREACHABLE = "unreachable";

export function refusedBy(status: number, body: unknown): Refused {
  const problem = body as Partial<Problem> | null | undefined;
  if (problem && typeof problem.title === "string") {
    const message = problem.detail ? `${problem.title}: ${problem.detail}` : problem.title;
    return new Refused(status, problem.code ?? "", message, problem.hint ?? "", problem.errors ?? []);
  }
  return new Refused(status, "", `Zoe answered ${status}`);
}

export function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error;
  return new Refused(0, UNREACHABLE, "Zoe does not answer", "The page tries again by itself.");
}

/** How long after a failure that passes the same is asked again. */
export const ASK_AGAIN_MS = 5_000;

/** Whether the same request may soon be answered: nothing was, or a part of Zoe is away. */
export function passes(error: unknown): boolean {
  return [0, 502, 503].includes(asRefused(error).status);
}

/** After how many milliseconds to ask again what failed so; false if nothing failed, or it stays refused. */
export function askAgainAfter(error: unknown): number | false {
  return error !== null && passes(error) ? ASK_AGAIN_MS : false;
}
