import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { bytes, counted, moment, number } from "../format";

interface OwnUseProps {
  own: Schemas["OwnUseView"];
  /** When the waiting one is expected to start, in seconds since the epoch. */
  startS?: number | null | undefined;
}

/** That one's own executions hold what a waiting one lacks, and the way on. */
export function OwnUse({ own: { ids, count, what, held, total }, startS = null }: OwnUseProps) {
  const amount = what === "memory" ? bytes(held) : number(held);
  const all = what === "memory" ? `${bytes(total)} of memory` : counted(total, "core");
  const until = startS !== null && startS > Date.now() / 1000 ? ` until about ${moment(startS)}` : "";
  return (
    <p className="notice">
      Your own {count === 1 ? "execution" : "executions"}{" "}
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <Link to={`/executions/${id}`}>{id}</Link>
        </span>
      ))}
      {count > ids.length && ` and ${number(count - ids.length)} more`} {count === 1 ? "holds" : "hold"}{" "}
      {amount} of {all}: cancel {count === 1 ? "it" : "one"}, or wait{until}.
    </p>
  );
}
