import { expect, test } from "vitest";
import { wantedOf, whyNoTrial } from "./wanted";

const FIELDS = { target: "acme/docs", undo: false, dryRun: true, megabytes: "" };

test("a job says what the fields say", () => {
  expect(wantedOf(FIELDS)).toEqual({
    tenant: "acme",
    container: "docs",
    plain: false,
    dry_run: true,
    bytes_per_s: null,
  });
  expect(wantedOf({ target: " acme ", undo: true, dryRun: false, megabytes: "2.5" })).toEqual({
    tenant: "acme",
    container: "",
    plain: true,
    dry_run: false,
    bytes_per_s: 2_500_000,
  });
});

test("what is no job has a reason", () => {
  expect(wantedOf({ ...FIELDS, target: "" })).toContain("Name a tenant");
  for (const target of ["acme/", "acme/docs/a", "/docs"])
    expect(typeof wantedOf({ ...FIELDS, target })).toBe("string");
  for (const megabytes of ["fast", "0.01", "-1"])
    expect(wantedOf({ ...FIELDS, megabytes })).toContain("at least 0.1 MB per second");
});

test("a trial needs a whole name", () => {
  for (const name of ["", "acme", "acme/docs", "acme/docs/", "/docs/a", "acme//a"])
    expect(whyNoTrial(name)).toContain("tenant/container/object");
  expect(whyNoTrial("acme/docs/a b/c.txt")).toBe("");
});
