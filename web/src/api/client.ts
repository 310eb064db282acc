import createClient from "openapi-fetch";
import { asRefused, refusedBy } from "./problem";
import { proof } from "./proof";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What requests do when the session has ended in mid-work. */
interface SignedIn {
  /** Resolves once somebody has signed in again; null before the first time. */
  renew: (() => Promise<void>) | null;
}

export const signedIn: SignedIn = { renew: null };

export const PROOF_HEADER = "X-CSRF-Token";
/** The browser has a cookie of a session, and this page cannot prove that the session is its own. */
export const UNPROVED = "csrf_token_missing";
const SIGN_IN_CODES = ["session_over", "no_token", UNPROVED];

/**
 * `fetch` with the session's proof: changes need it, and by it the server knows the session among cookies of the same
 * name. A request that comes after the session has ended waits until its user
 * has signed in again, and is then made once more, so that nothing typed is lost.
 */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const again = request.clone();
  const answer = await fetch(withProof(request));
  if (signedIn.renew === null || !(await saysSignIn(answer))) return answer;
  await signedIn.renew();
  return fetch(withProof(again));
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
