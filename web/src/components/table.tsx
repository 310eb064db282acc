import { Children, type ReactNode, useEffect, useRef } from "react";

/** A column's heading; `num` for columns of numbers, `hidden` where only screen readers need it. */
export type Heading = string | { text: string; num?: boolean; hidden?: boolean };

/** A heading over numbers. */
export function num(text: string): Heading {
  return { text, num: true };
}

interface TableProps {
  headings: Heading[];
  /** Rows of data, which stay rows and scroll sideways on a telephone; others are blocks there. */
  wide?: boolean;
  /** What is said instead while there are no rows. */
  empty?: ReactNode;
  children: ReactNode;
}

export function Table({ headings, wide = false, empty, children }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    if (!wide && body.current) labelCells(body.current, headings);
  });
  if (empty !== undefined && Children.count(children) === 0) return <p className="faint">{empty}</p>;
  return (
    <div className="scroll" tabIndex={0}>
      <table className={wide ? "" : "stacked-rows"}>
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
      const shows = cell.textContent?.trim() !== "" || cell.querySelector("input, svg, meter") !== null;
      if (column > 0 && text && shows) cell.dataset.label = text;
      else delete cell.dataset.label;
    }
  }
}
