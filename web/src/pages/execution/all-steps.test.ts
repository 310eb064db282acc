import { expect, test } from "vitest";
import { allSteps } from "./all-steps";

const service = { id: "s", name: "main-0", attempt: 1, started_at_s: 12, ready_at_s: null, ended_at_s: 13 };

test("marks, requeues and services are told by time, as zoe show --timeline does", () => {
  const again = { ...service, attempt: 2, started_at_s: 15.5, ended_at_s: null };
  const execution = { submitted_at_s: 10, marks: { queued: 10.5, ended: 20 }, services: [service, again] };
  const events = [
    { kind: "submitted", at_s: 10 },
    { kind: "requeued", at_s: 14 },
  ];
  expect(allSteps(execution as never, events)).toEqual([
    { what: "submitted", afterS: 0, sinceS: null },
    { what: "queued", afterS: 0.5, sinceS: 0.5 },
    { what: "main-0 started", afterS: 2, sinceS: 1.5 },
    { what: "main-0 ended", afterS: 3, sinceS: 1 },
    { what: "requeued for attempt 2", afterS: 4, sinceS: 1 },
    { what: "main-0, attempt 2 started", afterS: 5.5, sinceS: 1.5 },
    { what: "ended", afterS: 10, sinceS: 4.5 },
  ]);
});
