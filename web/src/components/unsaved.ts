import { useEffect } from "react";

/** Marks the entry of the history that Back takes away first. */
const MARK = "zoe-unsaved";

/** Asks before the page goes with changes that are not saved: by Back, a reload or a closed window. */
export function useUnsaved(unsaved: boolean, question: string): void {
  useEffect(() => {
    if (!unsaved) return;
    // One entry of the history for as long as something is unsaved: Back leads to the same address first.
    push();
    const onBack = () => {
      if (!window.confirm(question)) {
        push();
        return;
      }
      window.removeEventListener("popstate", onBack);
      window.history.back();
    };
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("popstate", onBack);
    window.addEventListener("beforeunload", onUnload);
    return () => {
      window.removeEventListener("popstate", onBack);
      window.removeEventListener("beforeunload", onUnload);
      // Once all is saved, Back leads to the page before at once. Elsewhere, the entry is not the present one.
      if (window.history.state?.[MARK]) window.history.back();
    };
  }, [unsaved, question]);
}

function push(): void {
  window.history.pushState({ ...window.history.state, [MARK]: true }, "");
}
