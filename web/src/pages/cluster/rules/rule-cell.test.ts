import { expect, test } from "vitest";
import { versionOf } from "./rule-cell";

test("the version that a rule runs is named, and that a newer one was uploaded", () => {
  const one = { name: "mask", tenant: "acme", sha256: "0123456789abcdef", newest: false, only_here: false };
  expect(versionOf(one)).toBe("runs mask 0123456789ab of acme: a newer version was uploaded");
  expect(versionOf({ ...one, tenant: null, newest: true, only_here: false })).toBe("runs mask 0123456789ab");
});
