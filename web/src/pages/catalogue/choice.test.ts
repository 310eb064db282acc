import { expect, it } from "vitest";
import { isChosen, readChoice, tagsOf, toggled, writeChoice } from "./choice";

const entry = {
  id: "marimo",
  title: "marimo notebook",
  summary: "Cells",
  category: "Notebooks",
  tags: ["python"],
};
const other = { ...entry, id: "r", tags: ["r", "python"] };

it.each([
  ["", [], true],
  ["NOTE cells", [], true],
  ["python", ["python"], true],
  ["spark", [], false],
  ["", ["python", "spark"], false],
])("chooses by words %j and tags %j: %s", (search, tags, chosen) => {
  expect(isChosen(entry, { search, tags })).toBe(chosen);
});

it("keeps the choice in the address", () => {
  const choice = { search: "a b", tags: ["python", "r"] };
  expect(readChoice(writeChoice(choice))).toEqual(choice);
  expect(toggled(toggled(choice, "r"), "sql").tags).toEqual(["python", "sql"]);
  expect(readChoice(new URLSearchParams("tag=r&tag=r")).tags).toEqual(["r"]);
});

it("lists common tags first", () => {
  expect(tagsOf([entry, other])).toEqual(["python", "r"]);
});
