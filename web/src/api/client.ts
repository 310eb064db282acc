import createClient from "openapi-fetch";
import { asRefused, refusedBy } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** How requests know who is signed in, and what they do when that has ended in mid-work. */
interface SignedIn {
  csrfToken: string;
  /** Resolves once somebody has signed in again; null before the first time. */
  renew: (() => Promise<void>) | null;
}

export const signedIn: SignedIn = { csrfToken: "", renew: null };

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const SIGN_IN_CODES = ["session_over", "no_token"];

/**
 * `fetch` with the session's proof for changes. A request that comes after the session has ended waits until its user
 * has signed in again, and is then made once more, so that nothing typed is lost.
 */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const again = request.clone();
  const answer = await fetch(withProof(request));
  if (signedIn.renew === null || !(await saysSignIn(answer))) return answer;
  await signedIn.renew();
  return fetch(withProof(again));
}

/** Whether it was refused because the session has ended; a wrong password is a 401, too. */
async function saysSignIn(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false;
  const problem = (await answer.clone().json()) as { code?: string };
  return SIGN_IN_CODES.includes(problem.code ?? "");
}

function withProof(request: Request): Request {
  if (CHANGES.has(request.method) && signedIn.csrfToken)
    request.headers.set("X-CSRF-Token", signedIn.csrfToken);
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
