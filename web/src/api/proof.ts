// The second secret of a session (`csrf_token`). It is kept by this origin, which has a port, while cookies have none: a
// program on another port of this host may be sent the session's cookie, but never reads this.
const KEY = "zoe-csrf-token";

/** Of the session that this page acts in; null before it has looked. */
let own: string | null = null;

/**
 * Of the session that this page acts in: the one that it found when it was loaded, or began since. Another tab may begin
 * another session, of another tenant; requests of this page are refused then, instead of being made there.
 */
export function proof(): string {
  own ??= newestProof();
  return own;
}

/** Of the session that was begun last, in whichever tab. */
export function newestProof(): string {
  try {
    return window.localStorage.getItem(KEY) ?? own ?? "";
  } catch {
    // This browser keeps nothing for pages: the page itself has it until it goes.
    return own ?? "";
  }
}

export function keepProof(given: string): void {
  own = given;
  try {
    window.localStorage.setItem(KEY, given);
  } catch {
    // The page itself has it.
  }
}

export function forgetProof(): void {
  own = null;
  try {
    window.localStorage.removeItem(KEY);
  } catch {
    // It was never kept.
  }
}

const LEFT_KEY = "zoe-left-for-provider";
const LEFT_MS = 15 * 60_000;

/** This page leads to another's sign-in page: what that hands over is waited for, and nothing else is taken. */
export function leaveForProvider(): void {
  try {
    window.localStorage.setItem(LEFT_KEY, String(Date.now()));
  } catch {
    // Nothing will be taken; signing in by password goes on.
  }
}

function leftForProvider(): boolean {
  try {
    const at = Number(window.localStorage.getItem(LEFT_KEY) ?? 0);
    window.localStorage.removeItem(LEFT_KEY);
    return Date.now() - at < LEFT_MS;
  } catch {
    return false;
  }
}

/** A path of this origin; the parser of addresses takes a backslash, and blanks away. */
function ownPath(next: string): string {
  return /^\/(?![\\/])[^\\\s]*$/.test(next) ? next : "/";
}

/**
 * What the way back from another's sign-in page hands over behind the `#`, which no server is sent. The address becomes
 * the one where the user was, so that the proof is in no history.
 */
export function takeHandedOver(): string {
  const told = new URLSearchParams(window.location.hash.slice(1));
  const given = told.get("csrf_token");
  if (given === null) return "";
  window.history.replaceState(null, "", ownPath(told.get("next") ?? "/"));
  // Anybody can write an address, and another origin of this host a cookie: together they would sign the user in as
  // somebody else.
  return leftForProvider() ? given : "";
}
