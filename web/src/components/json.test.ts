import { expect, it } from "vitest";
import { parseJson } from "./json";

it.each([
  ['{"red": {"cores_milli": 5}, "red": {"cores_milli": 7}}', "red"],
  ['{"a": 1, "\\u0061": 2}', "a"],
  ['[{"a": [], "b": {"c": 1, "d": "x", "c": 2}}]', "c"],
  ['{"__proto__": 1, "__proto__": 2}', "__proto__"],
  ['{"": 1, "": 2}', ""],
])("refuses %s for the key that occurs twice", (text, key) => {
  expect(() => parseJson(text)).toThrow(`${JSON.stringify(key)} occurs twice`);
});

it.each([
  '{"a": {"a": {"a": "a"}}, "b": ["a", "a", {"a": "b"}], "c": "b"}',
  '["a", "a"]',
  '{"a": "\\", \\"a\\": {", "b": "\\\\", "c": ",{\\"b\\": "}',
  '"a"',
  " 1.5e3 ",
  "null",
])("reads %s as the standard parser does", (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

it("leaves what is no JSON to the standard parser", () => {
  expect(() => parseJson('{"a": 1, "a"')).toThrow(SyntaxError);
});
