import type { ReactNode } from "react";

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
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
