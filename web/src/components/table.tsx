import type { ReactNode } from "react";

/** A column's heading; `num` for columns of numbers, `hidden` where only screen readers need it. */
export type Heading = string | { text: string; num?: boolean; hidden?: boolean };

/** A heading over numbers. */
export function num(text: string): Heading {
  return { text, num: true };
}

export function Table({ headings, children }: { headings: Heading[]; children: ReactNode }) {
  return (
    <div className="scroll">
      <table>
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
