// The second secret of a session (`csrf_token`). It is kept by this origin, which has a port, while cookies have none: a
// program on another port of this host may be sent the session's cookie, but never reads this.
const KEY = "zoe-csrf-token";

/** For a browser that keeps nothing for pages: until this page goes. */
let unkept = "";

/** Of the session that was begun last, in whichever tab. */
export function proof(): string {
  try {
    return window.localStorage.getItem(KEY) ?? unkept;
  } catch {
    return unkept;
  }
}

export function keepProof(given: string): void {
  unkept = given;
  try {
    window.localStorage.setItem(KEY, given);
  } catch {
    // The page itself has it.
  }
}

export function forgetProof(): void {
  unkept = "";
  try {
    window.localStorage.removeItem(KEY);
  } catch {
    // It was never kept.
  }
}

/**
 * What the way back from another's sign-in page hands over behind the `#`, which no server is sent. The address becomes
 * the one where the user was, so that the proof is in no history.
 */
export function takeHandedOver(): string {
  const told = new URLSearchParams(window.location.hash.slice(1));
  const given = told.get("csrf_token");
  if (given === null) return "";
  const next = told.get("next") ?? "/";
  window.history.replaceState(null, "", next.startsWith("/") && !next.startsWith("//") ? next : "/");
  return given;
}
