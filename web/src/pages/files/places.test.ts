import { expect, test } from "vitest";
import {
  asName,
  below,
  contentAddress,
  crumbs,
  labelOf,
  lookOf,
  rootIn,
  rootsOf,
  shown,
  takesFiles,
} from "./places";

test("paths are names joined by slashes", () => {
  expect(below("", "a")).toBe("a");
  expect(below("a/b", "c")).toBe("a/b/c");
  expect(crumbs("")).toEqual([]);
  expect(crumbs("a/b")).toEqual([
    { name: "a", path: "a" },
    { name: "b", path: "a/b" },
  ]);
});

test("names of this computer are written as the API writes them", () => {
  expect(asName("100%.csv")).toBe("100%25.csv");
  expect(asName("a\u202eb\n")).toBe("a%E2%80%AEb%0A");
  expect(shown("100%25.csv")).toBe("100%.csv");
  expect(shown("a%0A")).toBe("a%0A");
  expect(contentAddress("shared", "a&b/c#d")).toBe("/api/v1/files/shared/content?path=a%26b%2Fc%23d");
});

test("what could run something is shown as text", () => {
  expect(["a.html", "a.SVG", "a.pdf", "a.py", "Makefile"].map(lookOf)).toEqual(Array(5).fill("text"));
  expect(["a.csv", "a.parquet", "a.JPG"].map(lookOf)).toEqual(["table", "parquet", "image"]);
});

test("an object store is a place beside the workspaces, with containers at its top", () => {
  expect(rootsOf(["zoe"]).map(labelOf)).toEqual(["My workspace", "Shared workspace", "Object store zoe"]);
  expect([null, "shared", "store:zoe", "other"].map(rootIn)).toEqual([
    "workspace",
    "shared",
    "store:zoe",
    "workspace",
  ]);
  expect([takesFiles("workspace", ""), takesFiles("store:zoe", ""), takesFiles("store:zoe", "data")]).toEqual(
    [true, false, true],
  );
});
