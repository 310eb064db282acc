import { expect, test } from "vitest";
import { matching } from "./long-list";

const RULES = [
  "FOR TENANT acme DO SET COMPRESSION",
  "FOR TENANT acme DO SET ENCRYPTION",
  "FOR G all DO SET CACHING",
];

test("a filter finds what has all of its words", () => {
  const found = (typed: string) => matching(RULES, (text) => text, typed).length;
  expect(found("")).toBe(3);
  expect(found("  ")).toBe(3);
  expect(found("encryption ACME")).toBe(1);
  expect(found("acme")).toBe(2);
  expect(found("acme caching")).toBe(0);
});
