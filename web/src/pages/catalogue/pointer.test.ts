import { json } from "@codemirror/lang-json";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import { rangeOf } from "./pointer";

const TEXT = '{"name": "x", "list": [1, {"a/b": true}], "o": {"k~": null}}';
const state = EditorState.create({ doc: TEXT, extensions: [json()] });

it.each([
  ["/name", '"x"'],
  ["/list/0", "1"],
  ["/list/1/a~1b", "true"],
  ["/o/k~0", "null"],
  ["/o/none/deeper", '{"k~": null}'],
  ["/list/7", '[1, {"a/b": true}]'],
  ["", "{"],
])("leads to the place of %s", (pointer, text) => {
  const { from, to } = rangeOf(state, pointer);
  expect(TEXT.slice(from, to)).toBe(text);
});

it("marks something in a text that is no JSON", () => {
  const { from, to } = rangeOf(EditorState.create({ doc: "", extensions: [json()] }), "/name");
  expect([from, to]).toEqual([0, 0]);
});
