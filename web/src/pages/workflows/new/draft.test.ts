import { expect, it } from "vitest";
import {
  type Draft,
  documentOf,
  draftAddress,
  draftIn,
  NEW_DRAFT,
  newStep,
  stepName,
  stepPlace,
  withoutStep,
  withStep,
} from "./draft";

const first = { ...newStep("1", []), file: "Prepare Data.py" };
const second = { ...newStep("2", [first]), file: "work/fit.py" };
const third = { ...newStep("3", [first, second]), kind: "stored" as const, stored: "user/report" };
const draft: Draft = { name: " nightly ", steps: [first, second, third] };

it("writes steps after each other", () => {
  expect(documentOf(draft, [{ name: "a" }, { name: "b" }, { name: "c" }])).toEqual({
    version: 1,
    name: "nightly",
    steps: [
      { name: "prepare-data", application: { name: "a" } },
      { name: "fit", needs: ["prepare-data"], application: { name: "b" } },
      { name: "report", needs: ["fit"], application: { name: "c" } },
    ],
  });
});

it("writes how a step must have ended", () => {
  const after = { ...second, name: "clean-up", needs: [{ step: "1", condition: "any" as const }] };
  expect(documentOf({ name: "", steps: [first, after] }, [{}, {}])).toMatchObject({
    name: "pipeline",
    steps: [{}, { name: "clean-up", needs: ["any:prepare-data"] }],
  });
});

it("names steps by what they run", () => {
  expect(stepName({ ...first, file: "" })).toBe("step-1");
  expect(stepName({ ...first, file: "shared:a/Übung 2.ipynb" })).toBe("bung-2");
  expect(stepName({ ...first, name: "own" })).toBe("own");
});

it("closes the gap that a removed step leaves", () => {
  expect(withoutStep(draft, "2").steps.map((step) => step.needs)).toEqual([
    [],
    [{ step: "1", condition: "ok" }],
  ]);
  expect(withStep(draft).steps.at(-1)).toMatchObject({ key: "4", needs: [{ step: "3", condition: "ok" }] });
});

it("places findings at steps", () => {
  expect(stepPlace("/steps/1/application/components/0/image")).toBe("/step 2/components/0/image");
  expect(stepPlace("/document/steps/0/name")).toBe("/step 1/name");
  expect(stepPlace("/name")).toBe("/name");
});

it("an address holds a draft, and nonsense holds none", () => {
  const draft = withStep(NEW_DRAFT);
  const query = new URL(draftAddress(draft), "http://zoe").searchParams;
  expect(draftIn(query)).toEqual(draft);
  for (const text of ["", "{", "3", '{"name":1,"steps":[]}', '{"name":"a","steps":[]}'])
    expect(draftIn(new URLSearchParams({ draft: text }))).toBeNull();
});
