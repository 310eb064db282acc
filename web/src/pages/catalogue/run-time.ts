/** How long a run is expected to take, as a user writes it: `90m`, `1h30m`, or seconds. */

import type { Diagnostic } from "../../api/problem";

const UNITS_S = [7 * 86_400, 86_400, 3600, 60, 1];
const SPAN = /^(?=\d)(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s?)?$/;

/** In seconds; null if it cannot be read. */
export function runTimeS(text: string): number | null {
  const found = text.trim().replaceAll(/\s+/g, "").match(SPAN);
  if (found === null) return null;
  const seconds = UNITS_S.reduce((sum, unitS, index) => sum + unitS * Number(found[index + 1] ?? 0), 0);
  return seconds > 0 ? seconds : null;
}

/** As its user would write a number of seconds. */
export function runTimeText(seconds: number): string {
  const units: [string, number][] = [
    ["h", 3600],
    ["m", 60],
  ];
  const [unit, ofS] = units.find(([, one]) => seconds % one === 0) ?? ["s", 1];
  return `${seconds / ofS}${unit}`;
}

/** What is wrong with it, at its field. */
export function wrongRunTime(text: string): Diagnostic[] {
  if (text.trim() === "" || runTimeS(text) !== null) return [];
  const message = `${text.trim()} is not a duration`;
  return [{ pointer: "/run_time", code: "bad_format", message, hint: "write 45s, 90m or 1h30m" }];
}

/** The description that declares it. */
export function withRunTime(document: Record<string, unknown>, text: string): Record<string, unknown> {
  const seconds = runTimeS(text);
  return seconds === null ? document : { ...document, size: { run_time_s: seconds } };
}
