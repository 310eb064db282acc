import { expect, it } from "vitest";
import { deadlineCell, deadlineInFull, deadlineSentence, withZone } from "./deadline";

const AT = { at_s: 0, status: null, costs_s: {} };

it("says in a list how an execution stands to its deadline", () => {
  expect(deadlineCell(null)).toBe("");
  expect(deadlineCell({ ...AT, status: "met" })).toBe("met");
  expect(deadlineCell({ ...AT, status: "missed", cause: "queue" })).toBe("missed (queue)");
  expect(deadlineCell({ ...AT, status: "missed", cause: "too_short" })).toBe("missed (too short)");
  expect(deadlineInFull({ ...AT, status: "at_risk" })).toMatch(/^1 Jan 1970, .*:00:00.*, at risk$/);
  expect(deadlineInFull(AT)).toMatch(/^1 Jan 1970, [^,]*$/);
  expect(deadlineCell({ ...AT, status: "at_risk" })).toMatch(/^at risk: /);
});

it("says why it was missed, and what cost most first", () => {
  const missed = {
    ...AT,
    status: "missed" as const,
    cause: "queue" as const,
    costs_s: { slower: 5, queue: 90, input_late: 0.04 },
  };
  expect(deadlineSentence(missed)).toMatch(
    /it waited in the queue \(1 min 30 s in the queue, 5.0 s more than expected\)/,
  );
  expect(deadlineSentence({ ...AT, status: "met" })).toBe("");
});

it("adds the browser's zone where none is stated", () => {
  for (const text of ["08:00", "2026-12-01", "2026-12-01 08:30", "2026-12-01T08:30:00", "20261201"])
    expect(withZone(` ${text} `, "Europe/Paris")).toBe(`${text} Europe/Paris`);
  for (const text of ["", "+3h", "90m", "600", "08:00 UTC", "2026-12-01T08:30Z", "2026-12-01T08:30+01:00"])
    expect(withZone(text, "Europe/Paris")).toBe(text);
});
