import { useState } from "react";
import { useSession } from "../api/session";

/** State of a form that outlives a visit to another page: in this tab of the browser, for this user. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const { user } = useSession();
  const key = `zoe.typed.${user}.${name}`;
  const [value, setValue] = useState<T>(() => kept(key, initial));
  return [
    value,
    (changed) => {
      setValue(changed);
      keep(key, changed, initial);
    },
  ];
}

/** What was kept, if it is of the same kind; fields that another version of the page did not have are as at first. */
function kept<T>(key: string, initial: T): T {
  try {
    const found = JSON.parse(window.sessionStorage.getItem(key) ?? "null");
    if (found === null || typeof found !== typeof initial) return initial;
    return typeof initial === "object" ? { ...initial, ...found } : found;
  } catch {
    return initial;
  }
}

function keep<T>(key: string, value: T, initial: T): void {
  const text = JSON.stringify(value);
  try {
    if (text === JSON.stringify(initial)) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, text);
  } catch {
    // A browser that keeps nothing, or has no room: it is as before, lost by a visit to another page.
  }
}
