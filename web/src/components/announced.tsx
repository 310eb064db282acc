import type { Mutation } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

declare module "@tanstack/react-query" {
  interface Register {
    mutationMeta: {
      /** What is said once it is done, if the page does not show it where the user looks. */
      done?: (variables: never) => string;
    };
  }
}

const SHOWN_MS = 8_000;

let said = "";
const listeners = new Set<() => void>();

function say(text: string): void {
  said = text;
  for (const changed of listeners) changed();
}

/** For the cache of mutations: says what was done, on the screen and to screen readers. */
export function sayDone(_: unknown, variables: unknown, __: unknown, { meta }: Pick<Mutation, "meta">): void {
  const text = meta?.done?.(variables as never);
  if (text) say(text);
}

/** What was done last, for some seconds. */
export function Announced() {
  const text = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => said,
  );
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(say, SHOWN_MS, "");
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="announced" aria-live="polite">
      {text && <p>{text}</p>}
    </div>
  );
}
