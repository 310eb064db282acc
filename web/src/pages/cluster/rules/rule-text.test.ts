import { expect, test } from "vitest";
import { NO_RULE, ruleText } from "./rule-text";

test("a rule says what the fields say", () => {
  const fields = { ...NO_RULE, target: "acme", filters: ["COMPRESSION WITH TYPE=LZ4", "ENCRYPTION"] };
  expect(ruleText(fields)).toBe("FOR TENANT acme DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION");
  expect(ruleText({ ...fields, condition: "OBJECT_TYPE", value: " DOCS " })).toBe(
    "FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION",
  );
  expect(ruleText({ ...fields, condition: "OBJECT_SIZE<", value: "10M", mandatory: true })).toBe(
    "FOR TENANT acme WHEN OBJECT_SIZE<10M DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION MANDATORY",
  );
  expect(ruleText({ ...fields, target: 'a "b" c', condition: "OBJECT_TAG", value: "of 2026" })).toContain(
    'FOR TENANT "a ""b"" c" WHEN OBJECT_TAG="of 2026" DO',
  );
  expect(ruleText({ ...fields, kind: "OBJECT", target: "acme/docs/my file.txt" })).toContain(
    'FOR OBJECT "acme/docs/my file.txt" DO',
  );
});

test("while something is missing there is no rule", () => {
  const whole = { ...NO_RULE, target: "acme", filters: ["ENCRYPTION"] };
  expect(ruleText({ ...whole, target: "  " })).toBe("");
  expect(ruleText({ ...whole, filters: [] })).toBe("");
  expect(ruleText({ ...whole, condition: "OBJECT_TAG", value: "" })).toBe("");
});
