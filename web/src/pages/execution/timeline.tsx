import { useState } from "react";
import { duration, moment } from "../../format";
import { folded, stepsOf } from "./marks";
import type { Execution } from "./types";

/** When it got how far; steps that took no time are folded. */
export function Timeline({ execution }: { execution: Execution }) {
  const [all, setAll] = useState(false);
  const steps = stepsOf(execution);
  const short = folded(steps);
  return (
    <>
      <ol className="timeline" aria-label="Timeline">
        {(all ? steps : short).map(({ name, atS, tookS }) => (
          <li key={name} className={atS === null ? "" : "reached"}>
            <strong>{name}</strong>
            {atS !== null && <span className="num faint">{moment(atS)}</span>}
            {tookS !== null && <span className="num faint">+ {duration(tookS)}</span>}
          </li>
        ))}
      </ol>
      {short.length < steps.length && (
        <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fold steps that took no time" : `Show all ${steps.length} steps`}
        </button>
      )}
    </>
  );
}
