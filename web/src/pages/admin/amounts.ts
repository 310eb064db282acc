import { bytes, duration, number, rate } from "../../format";

export interface Amount {
  name: string;
  label: string;
  /** How it is entered: so many of the API's units are one. */
  unit: number;
  ofUsers: boolean;
  format: (value: number) => string;
}

/** The amounts of a limit, by their names in the API. */
export const AMOUNTS: Amount[] = [
  { name: "executions", label: "Executions", unit: 1, ofUsers: true, format: number },
  { name: "time_limit_s", label: "Hours per execution", unit: 3600, ofUsers: false, format: duration },
  { name: "cores_milli", label: "Cores", unit: 1000, ofUsers: true, format: (milli) => number(milli / 1000) },
  { name: "memory_bytes", label: "Memory, GiB", unit: 2 ** 30, ofUsers: true, format: bytes },
  { name: "read_bytes_per_s", label: "Read guaranteed, MB/s", unit: 1e6, ofUsers: false, format: rate },
  { name: "write_bytes_per_s", label: "Write guaranteed, MB/s", unit: 1e6, ofUsers: false, format: rate },
];

/** What an entered number is in the API's units; nothing is no limit. */
export function entered(text: string, amount: Amount): number | null {
  if (text === "") return null;
  const value = Number(text) * amount.unit;
  return amount.name === "time_limit_s" ? value : Math.round(value);
}

/** What is set of a limit: an amount that is not said follows the default. */
export function said(amounts: Record<string, number | null>, amount: Amount): string {
  const most = amounts[amount.name];
  if (most === undefined) return "–";
  return most === null ? "no limit" : amount.format(most);
}
