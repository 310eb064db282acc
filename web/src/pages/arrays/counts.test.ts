import { describe, expect, it } from "vitest";
import { countsText, endedCount } from "./counts";

describe("counts of an array", () => {
  it("are told in the order of progress, without empty states", () => {
    const counts = { waiting: 12000, failed: 2, succeeded: 5, active: 0 };
    expect(countsText(counts)).toBe("5 succeeded, 2 failed, 12,000 waiting");
    expect(endedCount(counts)).toBe(7);
  });

  it("of nothing are nothing", () => {
    expect(countsText({})).toBe("");
    expect(endedCount({})).toBe(0);
  });
});
