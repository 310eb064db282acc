import { expect, test } from "vitest";
import { instancesText } from "./instances-text";

test("the preferred number is named where it is not the possible one", () => {
  const counts = { component: "worker", given: 2, preferred: 3, total: 4 };
  expect(instancesText(counts)).toBe("Instances of worker: 2 of 4, preferred 3");
  expect(instancesText({ ...counts, preferred: 4 })).toBe("Instances of worker: 2 of 4");
});
