import { expect, it } from "vitest";
import { hiddenNames, withoutContents, withoutEmpty } from "./hidden";

const description = {
  name: "a",
  components: [
    { name: "main", environment: { HOME: "", MODE: "", ODD: "1" }, files: { "run.sh": "" } },
    { name: "worker", environment: { MODE: "" } },
  ],
};

it("names what is not there, but not what forms set themselves", () => {
  expect(hiddenNames(description)).toEqual(["MODE", "run.sh"]);
  expect(hiddenNames({ components: [{ name: "main" }] })).toEqual([]);
});

it("compares without contents, and fills no field with nothing", () => {
  expect(withoutContents(description).components).toEqual([
    { name: "main", environment: {}, files: {} },
    { name: "worker", environment: {}, files: {} },
  ]);
  expect(withoutEmpty(description).components).toMatchObject([
    { environment: { ODD: "1" } },
    { environment: {} },
  ]);
});
