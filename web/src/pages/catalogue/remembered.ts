/** What this browser keeps of forms: the form that an execution came from, and settings that users have named. */

const FORMS_KEY = "zoe-forms";
const SAVED_KEY = "zoe-saved-settings";
const FORMS_MAX = 200;
export const SAVED_MAX = 20;
export const NAME_LENGTH_MAX = 60;

/** Settings of an entry's form that somebody has named. */
export interface Saved {
  name: string;
  /** The query of the form's address. */
  query: string;
}

/** The address of the filled form that an execution came from; null if it came from elsewhere. */
export function formAddress(executionId: string): string | null {
  return pairs(FORMS_KEY).find(([id]) => id === executionId)?.[1] ?? null;
}

/** Keeps the form's address, of the newest executions only. */
export function keepForm(executionId: string, entryId: string, query: URLSearchParams): void {
  keepAddress(executionId, `/catalogue/${encodeURIComponent(entryId)}?${query}`);
}

/** Keeps the address of the filled form that an execution or a workflow came from. */
export function keepAddress(madeId: string, address: string): void {
  const others = pairs(FORMS_KEY).filter(([id]) => id !== madeId);
  keep(FORMS_KEY, [[madeId, address], ...others].slice(0, FORMS_MAX));
}

/** The settings that a user of a tenant has saved for an entry, newest first. */
export function savedSettings(whose: string, entryId: string): Saved[] {
  const of = prefix(whose, entryId);
  return pairs(SAVED_KEY)
    .filter(([key]) => key.startsWith(of))
    .map(([key, query]) => ({ name: key.slice(of.length), query }));
}

/** Saves settings under a name, replacing those of the same name; the oldest of an entry go. */
export function saveSettings(whose: string, entryId: string, { name, query }: Saved): void {
  const of = prefix(whose, entryId);
  const all = pairs(SAVED_KEY);
  const own = all.filter(([key]) => key.startsWith(of) && key !== of + name).slice(0, SAVED_MAX - 1);
  keep(SAVED_KEY, [[of + name, query], ...own, ...all.filter(([key]) => !key.startsWith(of))]);
}

export function removeSettings(whose: string, entryId: string, name: string): void {
  keep(
    SAVED_KEY,
    pairs(SAVED_KEY).filter(([key]) => key !== prefix(whose, entryId) + name),
  );
}

function prefix(whose: string, entryId: string): string {
  return `${whose}\n${entryId}\n`;
}

function pairs(key: string): [string, string][] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isPair) : [];
  } catch {
    return [];
  }
}

function isPair(one: unknown): one is [string, string] {
  return Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "string";
}

function keep(key: string, kept: string[][]): void {
  try {
    window.localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // This browser keeps nothing for pages.
  }
}
