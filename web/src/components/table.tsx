import { type ReactNode, useEffect, useRef } from "react";

/** A column's heading; `num` for columns of numbers, `hidden` where only screen readers need it. */
export type Heading = string | { text: string; num?: boolean; hidden?: boolean };

/** A heading over numbers. */
export function num(text: string): Heading {
  return { text, num: true };
}

interface TableProps {
  headings: Heading[];
  /** On a telephone each row is a block, so that nothing scrolls sideways. */
  stacked?: boolean;
  children: ReactNode;
}

export function Table({ headings, stacked = false, children }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    if (stacked && body.current) labelCells(body.current, headings);
  });
  return (
    <div className="scroll" tabIndex={0}>
      <table className={stacked ? "stacked-rows" : ""}>
        <thead>
          <tr>
            {headings.map((heading) => {
              const {
                text,
                num = false,
                hidden = false,
              } = typeof heading === "string" ? { text: heading } : heading;
              return (
                <th key={text} className={num ? "num" : ""}>
                  {hidden ? <span className="sr">{text}</span> : text}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}

/** Puts the heading of each cell but the first beside it, for rows that are blocks. */
function labelCells(body: HTMLTableSectionElement, headings: Heading[]): void {
  for (const row of body.rows) {
    for (const [column, cell] of [...row.cells].entries()) {
      const heading = headings[column];
      const text = typeof heading === "string" ? heading : heading?.hidden ? "" : heading?.text;
      if (column > 0 && text && !cell.dataset.label) cell.dataset.label = text;
    }
  }
}
