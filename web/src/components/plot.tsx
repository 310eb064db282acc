import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { bytes, moment, rate } from "../format";
import { around, type Span, ticksText, timesText } from "./plot-axes";

/** A line. Null breaks it; where it is undefined it was not measured at that moment, and goes on. */
export interface Series {
  label: string;
  values: (number | null | undefined)[];
  dashed?: boolean;
}

interface PlotProps {
  label: string;
  /** Seconds since the epoch. */
  times: number[];
  series: Series[];
  format: (value: number) => string;
  /** The period that is shown; else from the first time to the last. */
  span?: Span;
}

const COLOURS = ["#2f5fd0", "#c2571a", "#11803e", "#8b3fb5", "#a8861a", "#0f7f8c", "#c03363", "#5b6577"];
const HEIGHT_PX = 220;
const POINT_PX = 6;
/** Up to so many values are points, too: a line through one is not to be seen. */
const SPARSE_MAX = 12;
// Steps that are round numbers of KiB, MiB and GiB.
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);
const RATE_LEAST = 1000;
const BYTES_LEAST = 1024;
const LEAST = 0.1;
/** Lines over time. The table beside it is for whoever does not see it. */
export function Plot({ label, times, series: given, format, span }: PlotProps) {
  const series = given.filter((one) => one.values.some((value) => typeof value === "number"));
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = series.map((one) => `${one.label}${one.dashed}${isSparse(one)}`).join("|");
  // biome-ignore lint/correctness/useExhaustiveDependencies: made anew only for other lines; the data follows below
  useEffect(() => {
    const at = box.current;
    if (at === null) return;
    const text = getComputedStyle(at).color;
    // An axis of nothing ends at something that has a sensible unit.
    const least = format === rate ? RATE_LEAST : format === bytes ? BYTES_LEAST : LEAST;
    const axis = { stroke: text, grid: { stroke: "#8886", width: 1 }, ticks: { stroke: "#8886", width: 1 } };
    const made = new uPlot(
      {
        width: at.clientWidth,
        height: HEIGHT_PX,
        series: [
          { value: (u, at, _, index) => momentText(u, at, index) },
          ...series.map((one, index) => ({
            label: one.label,
            stroke: COLOURS[index % COLOURS.length] ?? text,
            width: 2,
            spanGaps: false,
            ...(isSparse(one) ? { points: { show: true, size: POINT_PX } } : {}),
            ...(one.dashed ? { dash: [6, 4] } : {}),
            value: (u: uPlot, value: number | null, line: number, at: number | null) =>
              valueText(at === null ? latestOf(u.data[line]) : value, format),
          })),
        ],
        axes: [
          {
            ...axis,
            space: 90,
            values: (_: uPlot, ticks: number[], __: number, ___: number, step: number) =>
              timesText(ticks, step),
          },
          {
            ...axis,
            size: 80,
            values: (_: uPlot, ticks: number[], __: number, ___: number, step: number) =>
              ticksText(ticks, step, format),
            ...(format === bytes ? { incrs: POWERS_OF_TWO } : {}),
          },
        ],
        scales: { y: { range: (_: uPlot, _low: number, high: number) => [0, Math.max(high * 1.05, least)] } },
      },
      [times, ...series.map((one) => one.values)],
      at,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: at.clientWidth, height: HEIGHT_PX }));
    watch.observe(at);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData([times, ...series.map((one) => one.values)]);
    const shown = span ?? around(times);
    if (shown) plot.current?.setScale("x", { min: shown.from_s, max: shown.to_s });
  }, [times, series, span]);
  const latest = series.map((one) => `${one.label}: ${lastOf(one.values, format)}`).join(", ");
  return (
    <figure className="card">
      <figcaption>{label}</figcaption>
      <div className="plot" ref={box} role="img" aria-label={`${label}. Latest: ${latest}`} />
    </figure>
  );
}

function isSparse({ values }: Series): boolean {
  return values.filter((value) => typeof value === "number").length <= SPARSE_MAX;
}

function lastOf(values: Series["values"], format: (value: number) => string): string {
  const last = latestOf(values);
  return last === null ? "not known" : format(last);
}

function latestOf(values: ArrayLike<number | null | undefined> | undefined): number | null {
  return Array.from(values ?? []).findLast((value) => typeof value === "number") ?? null;
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "no value" : format(value);
}

/** Where the pointer is, else the last moment: a legend without a value says nothing. */
function momentText(u: uPlot, at: number, index: number | null): string {
  const shown = index === null ? latestOf(u.data[0]) : at;
  return shown === null ? "" : moment(shown);
}
