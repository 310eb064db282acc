import { useRef } from "react";
import { type LongList, SHOWN_AT_ONCE } from "./long-list";

/** Fewer are seen at a glance. */
const FILTER_FROM = 10;

/** Above a long list: what it is filtered by, and how many that leaves. */
export function ListFilter({ list, label }: { list: LongList<unknown>; label: string }) {
  if (list.total < FILTER_FROM && list.typed === "") return null;
  return (
    <div className="row filters" role="search" aria-label={label}>
      <label>
        {label} <input type="search" value={list.typed} onChange={(e) => list.setTyped(e.target.value)} />
      </label>
      <span className="faint" role="status">
        {list.matching === list.total ? list.total : `${list.matching} of ${list.total}`}
      </span>
    </div>
  );
}

/** Below it: a button for more. */
export function ListMore({ list }: { list: LongList<unknown> }) {
  const place = useRef<HTMLParagraphElement>(null);
  const rest = list.matching - list.shown.length;
  if (list.matching <= SHOWN_AT_ONCE) return null;
  const more = () => {
    list.showMore();
    // The button goes with the last of them, and would take the focus along.
    if (rest <= SHOWN_AT_ONCE) place.current?.focus();
  };
  return (
    <p ref={place} tabIndex={-1}>
      {rest > 0 ? (
        <button type="button" onClick={more}>
          Show {Math.min(rest, SHOWN_AT_ONCE)} more of {rest}
        </button>
      ) : (
        <span className="faint">All {list.matching} are shown.</span>
      )}
    </p>
  );
}
