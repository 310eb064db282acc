import { expect, it } from "vitest";
import { changedRequest } from "./request";

const STORED = {
  expression: "@daily",
  zone: "Europe/Paris",
  application: "report",
  version: 3,
  document: null,
  parameters: { rows: 1 },
  ahead_s: 0,
  missed: "latest",
  overlap: "skip",
  jitter_s: 0,
} as const;

it("changes the times alone", () => {
  expect(changedRequest(STORED, { expression: "0 1 * * *" })).toEqual({ ...STORED, expression: "0 1 * * *" });
});

it("runs one thing: a stored application or a document", () => {
  const document = { name: "a" };
  const own = changedRequest(STORED, { document });
  expect(own).toEqual({ ...STORED, application: null, version: null, parameters: {}, document });
  const other = changedRequest(own, { application: "sum", parameters: {} });
  expect(other).toEqual({ ...own, application: "sum", document: null });
});
