import { describe, expect, it } from "vitest";
import { activeStates, countsText, endedCount } from "./counts";

describe("counts of an array", () => {
  it("are told in the order of progress, without empty states", () => {
    const counts = { waiting: 12000, failed: 2, succeeded: 5, active: 0 };
    expect(countsText(counts)).toBe("5 succeeded, 2 failed, 12,000 waiting");
    expect(endedCount(counts)).toBe(7);
  });

  it("tells active ones by the state of their executions", () => {
    const counts = { waiting: 90, active: 10, succeeded: 1 };
    expect(countsText(counts, { queued: 10 })).toBe("1 succeeded, 10 queued, 90 waiting");
    expect(countsText(counts, { queued: 7, running: 3 })).toBe(
      "1 succeeded, 3 running, 7 queued, 90 waiting",
    );
    expect(countsText(counts)).toBe("1 succeeded, 10 active, 90 waiting");
    expect(activeStates({ queued: 10 })).toBe("queued");
    expect(activeStates({ queued: 7, running: 3 })).toBe("running or queued");
    expect(activeStates({})).toBe("");
  });

  it("of nothing are nothing", () => {
    expect(countsText({})).toBe("");
    expect(endedCount({})).toBe(0);
  });
});
