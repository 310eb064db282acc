import type { Schemas } from "../../api/client";
import type { Series } from "../../components/plot";

type Point = Schemas["StoragePointView"];

/** Bytes per second of each stretch within a time; between stretches that are missing, nothing was moved. */
export function storeLines(points: Point[], stretchS: number, fromS: number, toS: number) {
  const times: number[] = [];
  const read: number[] = [];
  const written: number[] = [];
  const add = (at: number, one: Point | null) => {
    times.push(Math.min(Math.max(at, fromS), toS));
    read.push((one?.read_bytes ?? 0) / stretchS);
    written.push((one?.written_bytes ?? 0) / stretchS);
  };
  let endS: number | null = null;
  for (const one of points) {
    if (endS === null || one.at_s - endS > stretchS / 2) {
      if (endS !== null) add(endS, null);
      add(one.at_s, null);
    }
    add(one.at_s, one);
    endS = one.at_s + stretchS;
    add(endS, one);
  }
  if (endS !== null) add(endS, null);
  const series: Series[] = [
    { label: "read", values: read },
    { label: "written", values: written },
  ];
  return { times, series };
}
