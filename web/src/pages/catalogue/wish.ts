/** That a user asks for a promise, as the form and the page's address hold it. */

export interface Wish {
  wanted: boolean;
  /** Percent, as it is typed; empty: as the server has it. */
  confidence: string;
  budget: string;
}

export const NO_WISH: Wish = { wanted: false, confidence: "90", budget: "" };

// No field of a form begins like this.
const KEYS = { confidence: "_promise", budget: "_budget" } as const;

export function readWish(query: URLSearchParams): Wish {
  const confidence = query.get(KEYS.confidence);
  if (confidence === null) return NO_WISH;
  return { wanted: true, confidence, budget: query.get(KEYS.budget) ?? "" };
}

export function writeWish(query: URLSearchParams, wish: Wish): void {
  if (!wish.wanted) return;
  query.set(KEYS.confidence, wish.confidence);
  if (wish.budget) query.set(KEYS.budget, wish.budget);
}

/** The description that asks for it; the server checks it with the rest. */
export function withWish(document: Record<string, unknown>, wish: Wish): Record<string, unknown> {
  if (!wish.wanted) return document;
  const promise = {
    ...(wish.confidence && { confidence: Number(wish.confidence) / 100 }),
    ...(wish.budget && { budget: Number(wish.budget) }),
  };
  return { ...document, promise };
}
