import { type ReactNode, useEffect, useState } from "react";

interface FoldProps {
  title: ReactNode;
  /** Whether there is something in it, which is not hidden at first. */
  filled: boolean;
  children: ReactNode;
}

/** Fields behind one line that opens. */
export function Fold({ title, filled, children }: FoldProps) {
  const [open, setOpen] = useState(filled);
  useEffect(() => {
    if (filled) setOpen(true);
  }, [filled]);
  return (
    <details className="field" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
