const WIDER = 3;

/** Times in order, with one more wherever some are missing: what has no value there has a gap. */
export function withBreaks(times: number[]): number[] {
  const widths = times.slice(1).map((at, index) => at - (times[index] as number));
  const usual = [...widths].sort((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
  return times.flatMap((at, index) => {
    const before = times[index - 1];
    return before !== undefined && at - before > WIDER * usual ? [(at + before) / 2, at] : [at];
  });
}
