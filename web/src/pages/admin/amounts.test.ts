import { describe, expect, it } from "vitest";
import { AMOUNTS, type Amount, entered, said } from "./amounts";

const amount = (name: string) => AMOUNTS.find((one) => one.name === name) as Amount;

describe("amounts of a limit", () => {
  it("are entered in people's units", () => {
    expect(entered("0.5", amount("time_limit_s"))).toBe(1800);
    expect(entered("1.5", amount("cores_milli"))).toBe(1500);
    expect(entered("2", amount("memory_bytes"))).toBe(2 ** 31);
    expect(entered("0.1", amount("read_bytes_per_s"))).toBe(100_000);
    expect(entered("", amount("executions"))).toBeNull();
  });
  it("say what is set, what is no limit and what follows the default", () => {
    const amounts = { executions: 0, cores_milli: null };
    expect(AMOUNTS.slice(0, 3).map((one) => said(amounts, one))).toEqual(["0", "–", "no limit"]);
  });
});
