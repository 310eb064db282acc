import { expect, it } from "vitest";
import { validator } from "./validator";

const SCHEMA = {
  type: "object" as const,
  properties: {
    workers: { type: "integer" as const, minimum: 0, maximum: 5 },
    name: { type: "string" as const },
  },
};

it("finds what is out of range, at its field", () => {
  const { errors, errorSchema } = validator.validateFormData({ workers: 9, name: "x" }, SCHEMA);
  expect(errors).toHaveLength(1);
  expect(Object.keys(errorSchema)).toEqual(["workers"]);
});

it("has nothing against what fits", () => {
  expect(validator.validateFormData({ workers: 5 }, SCHEMA).errors).toEqual([]);
  expect(validator.isValid(SCHEMA, { workers: 1 }, SCHEMA)).toBe(true);
});
