/** Numbers and times in words. Times are seconds since the epoch, as everywhere in the API. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${rest >= 100 || Number.isInteger(rest) ? rest.toFixed(0) : rest.toFixed(1)} ${UNITS[unit]}`;
}

const RATE_UNITS = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
// From here on a number of three digits would be shown as 1000.
const NEXT_UNIT = 999.5;

/** Bytes per second in the unit that fits: what is slow is not shown as nothing. */
export function rate(bytesPerSecond: number): string {
  if (bytesPerSecond > 0 && bytesPerSecond < 1) return "under 1 B/s";
  const { divisor, unit } = rateUnit(bytesPerSecond);
  const shown = bytesPerSecond / divisor;
  return `${shown >= 99.95 || divisor === 1 ? shown.toFixed(0) : shown.toFixed(1)} ${unit}`;
}

/** The unit for a rate of this size, and how many bytes per second it is. */
export function rateUnit(bytesPerSecond: number): { divisor: number; unit: string } {
  let step = 0;
  while (bytesPerSecond / 1000 ** step >= NEXT_UNIT && step < RATE_UNITS.length - 1) step += 1;
  return { divisor: 1000 ** step, unit: RATE_UNITS[step] ?? "" };
}

export function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}

export function duration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(s % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function clock(atS: number): string {
  return new Date(atS * 1000).toLocaleTimeString("en-GB");
}

export function moment(atS: number): string {
  const date = new Date(atS * 1000);
  const sameYear = date.getFullYear() === new Date().getFullYear();
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return sameYear
    ? `${day}, ${clock(atS)}`
    : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** With its date and its zone, wherever it is read. */
export function fullMoment(atS: number): string {
  const date = new Date(atS * 1000);
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });
}

interface Ran {
  marks: Partial<Record<"placed" | "ended", number>>;
  ran_s?: number | null;
}

/** How long it ran, from its places on nodes to its end, as in all lists; null before both. */
export function runS({ marks: { placed, ended }, ran_s: ranS }: Ran): number | null {
  if (placed === undefined || ended === undefined) return null;
  return ranS ?? ended - placed;
}

/** "in 3 min 5 s" or "2 h 1 min ago". */
export function distance(atS: number, nowS: number): string {
  return atS >= nowS ? `in ${duration(atS - nowS)}` : `${duration(nowS - atS)} ago`;
}

/** "1 service", "2 services", "2 entries". */
export function counted(count: number, noun: string, several = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : several}`;
}
