import { useMemo } from "react";
import { rate } from "../format";
import { type BandwidthOverTime, type BandwidthPoint, bandwidthLines } from "./bandwidth-lines";
import { Plot } from "./plot";

interface BandwidthPlotProps {
  label: string;
  /** What was told of all tenants. */
  told: BandwidthOverTime;
  /** Those of one tenant. */
  points: BandwidthPoint[];
}

/** What a tenant moved to and from the object store, beside what it was granted. */
export function BandwidthPlot({ label, told, points }: BandwidthPlotProps) {
  const { times, series } = useMemo(() => bandwidthLines(points, told), [points, told]);
  const achieved = points.some((point) => point.achieved !== null);
  const heading = achieved ? label : `${label} (the storage controller does not report achieved bandwidth)`;
  return <Plot label={heading} times={times} series={series} format={rate} span={told} />;
}
