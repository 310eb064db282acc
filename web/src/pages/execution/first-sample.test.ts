import { expect, it } from "vitest";
import { firstSampleText } from "./first-sample";
import type { Execution } from "./types";

function started(...atS: (number | null)[]) {
  return { services: atS.map((one) => ({ started_at_s: one })) } as unknown as Pick<Execution, "services">;
}

it("says when the first measurement comes, by the service that started first", () => {
  const every = "Cores and memory are measured every 30 s";
  expect(firstSampleText(started(null, null), 30, 100)).toBe(`${every}, once a service has started.`);
  expect(firstSampleText(started(null, 110, 100), 30, 105)).toBe(
    `${every}; the first measurement is shown within 30 s.`,
  );
  expect(firstSampleText(started(100), 30, 135)).toBe(`${every}; the back-end has not reported any yet.`);
});
