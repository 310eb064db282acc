import createClient from "openapi-fetch";
import { asRefused, Refused, refusedBy } from "./problem";
import { proof } from "./proof";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A description as somebody wrote it: the server says what is wrong with it. */
export function asDescription(document: Record<string, unknown>): Schemas["Description"] {
  return document as Schemas["Description"];
}

/** What requests do when the session has ended in mid-work. */
interface SignedIn {
  /** The user and the tenant that this page shows. */
  whose: string;
  /** Resolves once somebody has signed in again; null before the first time. */
  renew: (() => Promise<void>) | null;
}

export const signedIn: SignedIn = { whose: "", renew: null };

export const PROOF_HEADER = "X-CSRF-Token";
/** The browser has a cookie of a session, and this page cannot prove that the session is its own. */
export const UNPROVED = "csrf_token_missing";
/** Asked by the page for one user and tenant, and not repeated for others. */
export const SESSION_CHANGED = "session_changed";
const SIGN_IN_CODES = ["session_over", "no_token", UNPROVED];

/**
 * `fetch` with the proof of the page's session: by it the server knows the session among cookies of the same name, and
 * refuses what is asked for one that another tab has replaced. A request that comes after the session has ended waits
 * until its user has signed in again, and is then made once more, so that nothing typed is lost. It is not made for
 * another user or tenant than the page showed when it was asked; throws Refused.
 */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const again = request.clone();
  const sent = proof();
  const { whose } = signedIn;
  const answer = await fetch(withProof(request));
  if (signedIn.renew === null || !(await saysSignIn(answer))) return answer;
  // Another request may have had the session renewed while this one was under way.
  if (proof() === sent) await signedIn.renew();
  if (signedIn.whose === whose) return fetch(withProof(again));
  throw new Refused(
    403,
    SESSION_CHANGED,
    "The session changed: nothing was sent",
    "Check the user and the tenant at the top of the page, then try again.",
  );
}

/** Whether it was refused for want of a session or of its proof; a wrong password is a 401, too. */
async function saysSignIn(answer: Response): Promise<boolean> {
  if (answer.status !== 401 && answer.status !== 403) return false;
  const problem = (await answer.clone().json()) as { code?: string };
  return SIGN_IN_CODES.includes(problem.code ?? "");
}

function withProof(request: Request): Request {
  const kept = proof();
  if (kept && !request.headers.has(PROOF_HEADER)) request.headers.set(PROOF_HEADER, kept);
  return request;
}

export const api = createClient<paths>({ baseUrl: "", fetch: fetchSignedIn });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer's body; throws Refused. */
export async function told<T>(answer: Promise<Answer<T>>): Promise<T> {
  let given: Answer<T>;
  try {
    given = await answer;
  } catch (error) {
    throw asRefused(error);
  }
  if (!given.response.ok) throw refusedBy(given.response.status, given.error);
  return given.data as T;
}
