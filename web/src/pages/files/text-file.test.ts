import { expect, test } from "vitest";
import { EDIT_BYTES_MAX, readText, type TextFile, writeText } from "./text-file";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each(["", "a\nb", "a\r\nb\r\n", "\ufeffname,value\n", "Übung 🚀"])("%j comes back as it was", (text) => {
  const read = readText(bytes(text)) as TextFile;
  expect(read.text).not.toContain("\r");
  expect(writeText(read)).toEqual(bytes(text));
});

test.each([
  [bytes("a\r\nb\nc"), "different ways"],
  [bytes("a\rb"), "different ways"],
  [bytes("a\0b"), "not text"],
  [new Uint8Array([0xff, 0xfe]), "UTF-8"],
  [new Uint8Array(EDIT_BYTES_MAX + 1), "256 KiB"],
])("what would not come back is refused", (content, words) => {
  expect(readText(content)).toContain(words);
});
