import { useEffect, useState } from "react";

/** Asks before the page goes with changes that are not saved: by Back, a reload or a closed window. */
export function useUnsaved(unsaved: boolean, question: string): void {
  // One entry of the history for as long as the editor is open: Back leads to the same address first.
  const [pushed, setPushed] = useState(false);
  useEffect(() => {
    if (!unsaved) return;
    if (!pushed) {
      window.history.pushState(window.history.state, "");
      setPushed(true);
    }
    const onBack = () => {
      if (!window.confirm(question)) {
        window.history.pushState(window.history.state, "");
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
    };
  }, [unsaved, pushed, question]);
}
