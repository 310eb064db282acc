import { type ReactNode, useEffect, useState } from "react";
import { useAnyWrong } from "./field-errors";

interface FoldProps {
  title: ReactNode;
  /** Whether there is something in it, which is not hidden at first. */
  filled: boolean;
  /** The fields inside: it opens when something is wrong with one of them. */
  fields?: readonly string[];
  children: ReactNode;
}

const NO_FIELDS: readonly string[] = [];

/** Fields behind one line that opens. */
export function Fold({ title, filled, fields = NO_FIELDS, children }: FoldProps) {
  const wrong = useAnyWrong(fields);
  const [open, setOpen] = useState(filled);
  useEffect(() => {
    if (filled || wrong) setOpen(true);
  }, [filled, wrong]);
  return (
    <details className="field" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
