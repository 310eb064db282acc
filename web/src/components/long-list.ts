import { useState } from "react";

/** So many are drawn at first, and with each press of the button: more than fit on a screen, and quickly drawn. */
export const SHOWN_AT_ONCE = 50;

export interface LongList<T> {
  /** What is drawn. */
  shown: T[];
  matching: number;
  total: number;
  typed: string;
  setTyped: (typed: string) => void;
  showMore: () => void;
}

/** A list of which the first are shown, by what is typed into a filter. */
export function useLongList<T>(all: T[], textOf: (one: T) => string): LongList<T> {
  const [typed, setTyped] = useState("");
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const found = matching(all, textOf, typed);
  return {
    shown: found.slice(0, most),
    matching: found.length,
    total: all.length,
    typed,
    setTyped: (text) => {
      setTyped(text);
      setMost(SHOWN_AT_ONCE);
    },
    showMore: () => setMost(most + SHOWN_AT_ONCE),
  };
}

/** Those whose text has each of the words, in any case and order. */
export function matching<T>(all: T[], textOf: (one: T) => string, typed: string): T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter((one) => {
    const text = textOf(one).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
