import { expect, it } from "vitest";
import { changeText } from "./change-text";

it("says one of a thing and several of it", () => {
  const change = { component: "worker", before: 3, after: 1 };
  expect(changeText({ ...change, part: "essential_count" })).toBe(
    "worker: 1 essential instance instead of 3 essential instances",
  );
  expect(changeText({ ...change, part: "cores_milli", before: 1500, after: 1000 })).toBe(
    "worker: 1 core instead of 1.5 cores",
  );
  expect(changeText({ ...change, part: "memory_bytes", before: 2 ** 31, after: 2 ** 30 })).toBe(
    "worker: 1 GiB of memory instead of 2 GiB of memory",
  );
});
