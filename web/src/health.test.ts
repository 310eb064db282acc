import { expect, it } from "vitest";
import { Refused } from "./api/problem";
import { healthTexts } from "./health";

const UP = { master: {}, submissions_closed: "" };

it("says nothing while all is there", () => {
  expect(healthTexts(UP, null, false)).toEqual([]);
  expect(healthTexts(undefined, null, false)).toEqual([]);
});

it("says that submissions are closed, in the admin's words", () => {
  const closed = { master: null, submissions_closed: "new disks until noon" };
  const [away, said] = healthTexts(closed, null, false);
  expect(away).toContain("The master is not reachable.");
  expect(said).toBe("Submissions are closed: new disks until noon. What was submitted earlier runs on.");
  expect(healthTexts({ ...closed, master: {} }, null, true)).toEqual([
    "Submissions are closed: new disks until noon. Operators and admins can submit.",
  ]);
});

it("says what is away instead of what is not known", () => {
  expect(healthTexts(UP, new Refused(503, "", "away"), false)[0]).toContain("The database does not answer.");
  expect(healthTexts(UP, new Refused(0, "", "away"), false)[0]).toContain("Zoe does not answer.");
  expect(healthTexts(UP, new Refused(403, "", "no"), false)).toEqual(["no"]);
});
