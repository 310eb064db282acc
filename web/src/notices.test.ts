import { expect, test } from "vitest";
import type { JournalEvent } from "./api/journal";
import { endedIn } from "./notices";

const event = (kind: string, execution_id: string | null) =>
  ({ id: 1, kind, at_s: 0, cause_id: "", data: {}, execution_id }) as JournalEvent;

test("each execution that ended is named once", () => {
  const events = [event("ended", "x1"), event("running", "x2"), event("refused", "x3"), event("ended", "x1")];
  expect(endedIn([...events, event("policy_set", null)])).toEqual(["x1", "x3"]);
});

test("an array ends as a whole", () => {
  const id = "a1m7xhnzn3f4144";
  const events = [event("ended", `${id}_0`), event("ended", `${id}_1r2`), event("array_ended", id)];
  expect(endedIn(events)).toEqual([id]);
});
