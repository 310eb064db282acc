import { expect, it } from "vitest";
import { periodOf, periodText } from "./usage-period";

const at = (text: string) => Date.parse(`${text}Z`) / 1000;

it("knows months in UTC, also over the turn of the year", () => {
  expect(periodOf("last", at("2026-01-15T10:00:00"))).toEqual({
    from_s: at("2025-12-01T00:00:00"),
    to_s: at("2025-12-31T23:59:59"),
  });
  expect(periodOf("month", at("2026-03-01T00:00:09")).from_s).toBe(at("2026-03-01T00:00:00"));
  expect(periodOf("7", at("2026-03-08T00:00:00")).from_s).toBe(at("2026-03-01T00:00:00"));
  expect([periodText("last"), periodText("30")]).toEqual(["last month", "30 days"]);
});
