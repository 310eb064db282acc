import { duration, moment } from "../../format";
import { timeline } from "./marks";
import type { Execution } from "./types";

/** When it got how far; marks that this execution never has are left out once it has ended. */
export function Timeline({ execution }: { execution: Execution }) {
  const marks = execution.marks;
  let before = execution.submitted_at_s;
  return (
    <ol className="timeline" aria-label="Timeline">
      <li className="reached">
        <strong>submitted</strong>
        <span className="num faint">{moment(execution.submitted_at_s)}</span>
      </li>
      {timeline(marks).map(([mark, name]) => {
        const at = marks[mark];
        const since = at === undefined ? null : at - before;
        if (at !== undefined) before = at;
        return (
          <li key={mark} className={at === undefined ? "" : "reached"}>
            <strong>{name}</strong>
            {at !== undefined && <span className="num faint">{moment(at)}</span>}
            {since !== null && <span className="num faint">+ {duration(since)}</span>}
          </li>
        );
      })}
    </ol>
  );
}
