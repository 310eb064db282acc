import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef } from "react";
import { Link } from "react-router";
import { useMedia } from "../../components/media";
import { StateBadge } from "../../components/state";
import { deadlineCell, deadlineSentence } from "../../deadline";
import { clock, duration, moment, runS } from "../../format";
import type { ExecutionTable, Summary } from "./table";

const ROW_PX = 40;
/** On a telephone a row is a card of two lines; the style sheet has the same width and height. */
const CARD_PX = 76;
const NARROW = "(max-width: 800px)";
const HEADINGS = ["", "Name", "State", "User", "Submitted", "Services", "Deadline", "Activity"];

interface GridProps {
  table: ExecutionTable;
  /** By id. */
  selected: ReadonlyMap<string, string>;
  onSelect: (id: string, selected: boolean, name: string) => void;
  selectable: boolean;
  onEnd: () => void;
}

/** The long table: only the rows in sight are in the page. */
export function Grid({ table, selected, onSelect, selectable, onEnd }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const narrow = useMedia(NARROW);
  const rows = useVirtualizer({
    count: table.ids.length,
    getScrollElement: () => box.current,
    estimateSize: () => (narrow ? CARD_PX : ROW_PX),
    overscan: 8,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew
  useEffect(() => rows.measure(), [narrow]);
  const seen = rows.getVirtualItems();
  const last = seen[seen.length - 1]?.index ?? 0;
  useEffect(() => {
    if (last >= table.ids.length - 50) onEnd();
  }, [last, table.ids.length, onEnd]);
  return (
    <div
      className="grid"
      ref={box}
      role="table"
      aria-label="Executions"
      aria-rowcount={table.ids.length + 1}
      tabIndex={0}
    >
      <div role="rowgroup">
        <div className="grid-row grid-head" role="row" aria-rowindex={1}>
          {HEADINGS.map((heading) => (
            <span key={heading} role="columnheader">
              {heading || <span className="sr">Chosen</span>}
            </span>
          ))}
        </div>
      </div>
      <div className="grid-body" role="rowgroup" style={{ height: rows.getTotalSize() }}>
        {seen.map(({ index, start, key }) => {
          const row = table.rows.get(table.ids[index] ?? "");
          if (row === undefined) return null;
          return (
            <Row
              key={key}
              row={row}
              index={index}
              top={start}
              chosen={selected.has(row.id)}
              selectable={selectable && row.outcome === null}
              onSelect={onSelect}
            />
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  row: Summary;
  index: number;
  top: number;
  chosen: boolean;
  selectable: boolean;
  onSelect: GridProps["onSelect"];
}

const Row = memo(function Row({ row, index, top, chosen, selectable, onSelect }: RowProps) {
  return (
    <div
      className="grid-row"
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={chosen}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell" className="in-choose">
        <input
          type="checkbox"
          aria-label={`choose ${row.name}`}
          checked={chosen}
          disabled={!selectable}
          onChange={(e) => onSelect(row.id, e.target.checked, row.name)}
        />
      </span>
      <span role="cell" className="in-name">
        <Link to={`/executions/${row.id}`} title={row.name}>
          {row.name}
        </Link>
      </span>
      <span role="cell" className="in-state">
        <StateBadge state={row.state} />
      </span>
      <span role="cell" className="in-wide">
        {row.user}
      </span>
      <span role="cell" className="num in-wide">
        {moment(row.submitted_at_s)}
      </span>
      <span role="cell" className="num in-wide" title="ready essential services, ready elastic ones">
        {servicesOf(row)}
      </span>
      <span role="cell" className="num in-wide" title={deadlineSentence(row.deadline)}>
        {deadlineCell(row.deadline)}
      </span>
      <span role="cell" className="in-story">
        {row.deadline?.status && <span className="in-narrow">{deadlineCell(row.deadline)} · </span>}
        {story(row)}
      </span>
    </div>
  );
});

function servicesOf(row: Summary): string {
  const active = row.state === "starting" || row.state === "running" || row.state === "stopping";
  const core = active ? `${row.core_ready}/${row.core_total}` : `${row.core_total}`;
  if (row.elastic_total === 0) return core;
  const preferred = row.elastic_preferred;
  const wish = active && typeof preferred === "number" ? ` (preferred ${preferred})` : "";
  return `${core} + ${active ? `${row.elastic_ready}/` : ""}${row.elastic_total}${wish}`;
}

/** What a failed execution ended with: its exit code, else the cause. */
function failure({ exit_code, cause }: Summary): string {
  if (exit_code) return `exit code ${exit_code}`;
  return cause === null || cause === "exited" ? "failed" : cause.replaceAll("_", " ");
}

/** In a few words, what is to be known of it now. */
function story(row: Summary): string {
  const { queued, ready } = row.marks;
  if (row.state === "queued" || row.state === "submitted") {
    const by = row.forecast?.start_p90_s ?? null;
    const when =
      by === null ? "" : by > Date.now() / 1000 ? `, by ${clock(by)} (p90)` : ", later than forecast";
    return row.reason ? `${row.reason.sentence}${when}` : `waits${when}`;
  }
  if (row.outcome !== null && row.message) return row.message;
  if (row.outcome === "failed") return failure(row);
  const ranS = runS(row);
  if (ranS !== null) return `ran for ${duration(ranS)}`;
  if (ready !== undefined && queued !== undefined) return `up since ${moment(ready)}`;
  return row.message;
}
