import { expect, test } from "vitest";
import {
  archiveAddress,
  asName,
  below,
  contentAddress,
  crumbs,
  endingOf,
  formName,
  labelOf,
  lookOf,
  placeOf,
  renamed,
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

test("a form names a file of a workspace by its path", () => {
  expect([
    formName("workspace", "a/b.py"),
    formName("shared", "a.py"),
    formName("store:zoe", "c/a.py"),
  ]).toEqual(["a/b.py", "shared:a.py", null]);
  expect(placeOf("shared:a/b.py")).toEqual({ root: "shared", path: "a/b.py" });
  expect(placeOf("a/b.py")).toEqual({ root: "workspace", path: "a/b.py" });
  expect(["a/b.py", "b.tar.gz", ".bashrc", "Makefile", "a.d/b"].map(endingOf)).toEqual([
    ".py",
    ".gz",
    "",
    "",
    "",
  ]);
});

test("several files are one archive, unless the address is too long", () => {
  expect(archiveAddress("shared", ["a b", "c"])).toBe("/api/v1/files/shared/archive?path=a%20b&path=c");
  expect(archiveAddress("workspace", Array(100).fill("x".repeat(200)))).toBeNull();
});

test("a new path is written as the API writes it, and names that stay do not change", () => {
  expect(renamed("100%25/a%0A", "100%/b%c")).toBe("100%25/b%25c");
  expect(renamed("d/a%0A", "/e/a%0A/")).toBe("e/a%0A");
});
