import { useMutation } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { ErrorBox } from "../../components/feedback";
import { saveAs } from "../../components/files";
import { keptOutput } from "./download";
import { coloured, plain } from "./log-lines";
import { LINE_PX, leftTheEnd } from "./scrolling";
import { useLog } from "./use-log";

interface LogViewProps {
  executionId: string;
  serviceId: string;
  name: string;
}

export function LogView({ executionId, serviceId, name }: LogViewProps) {
  const { lines, missing, waiting, complete, link } = useLog(executionId, serviceId);
  const download = useMutation({
    mutationFn: () => keptOutput(executionId, serviceId),
    onSuccess: (output) => saveAs(`${name}.log`, output, "text/plain"),
  });
  const [following, setFollowing] = useState(true);
  const [wanted, setWanted] = useState("");
  const [place, setPlace] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  });
  const hits = useMemo(() => {
    const text = wanted.toLowerCase();
    if (text === "") return [];
    return lines.flatMap((line, index) => (plain(line).toLowerCase().includes(text) ? [index] : []));
  }, [lines, wanted]);
  const hit = hits.length === 0 ? undefined : hits[((place % hits.length) + hits.length) % hits.length];

  useEffect(() => {
    if (following && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [following, lines.length, rows]);
  useEffect(() => {
    if (hit === undefined) return;
    setFollowing(false);
    rows.scrollToIndex(hit, { align: "center" });
  }, [hit, rows]);
  const onScroll = () => {
    if (box.current === null) return;
    if (leftTheEnd(top.current, box.current)) setFollowing(false);
    top.current = box.current.scrollTop;
  };

  return (
    <>
      <div className="row filters">
        <label>
          Search{" "}
          <input
            type="search"
            value={wanted}
            onChange={(e) => {
              setWanted(e.target.value);
              setPlace(0);
            }}
            onKeyDown={(e) => {
              if (e.key === "Enter") setPlace((before) => before + (e.shiftKey ? -1 : 1));
            }}
          />
        </label>
        <span className="faint" role="status">
          {wanted && `${hits.length} lines`}
        </span>
        <label>
          <input type="checkbox" checked={following} onChange={(e) => setFollowing(e.target.checked)} />{" "}
          Follow
        </label>
        <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
          {download.isPending ? "Downloading" : "Download"}
        </button>
        <span className="faint" role="status">
          {complete ? "ended" : link === "live" ? waiting || "live" : "connecting"}
          {missing && `; ${missing}`}
        </span>
      </div>
      <ErrorBox error={download.error} />
      <div
        className="log mono"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={`Output of ${name}`}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="log-body" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <div key={index} className={`log-line ${index === hit ? "hit" : ""}`} style={{ top: start }}>
              <Line text={lines[index] ?? ""} wanted={wanted} />
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

function Line({ text, wanted }: { text: string; wanted: string }) {
  return coloured(text).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line have nothing else, and never change places
    <span key={index} style={piece.style}>
      {marked(piece.text, wanted)}
    </span>
  ));
}

function marked(text: string, wanted: string): ReactNode {
  if (wanted === "") return text;
  const parts: ReactNode[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (
    let at = lower.indexOf(wanted.toLowerCase());
    at >= 0;
    at = lower.indexOf(wanted.toLowerCase(), from)
  ) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
