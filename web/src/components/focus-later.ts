import { useEffect, useState } from "react";

/** Gives the focus to an element once what had it, such as a dialog, is gone: before that it cannot be given. */
export function useFocusLater(): (find: () => HTMLElement | null) => void {
  const [wanted, setWanted] = useState<{ find: () => HTMLElement | null } | null>(null);
  useEffect(() => wanted?.find()?.focus(), [wanted]);
  return (find) => setWanted({ find });
}
