import { expect, it } from "vitest";
import type { Execution } from "./types";
import { usedOf } from "./used";

const LINES = {
  cpu: [{ label: "a-0", values: [null, 0.5, undefined, 0.2] }],
  memory: [
    { label: "a-0", values: [30, 50, 20, undefined] },
    { label: "gone-0", values: [9] },
  ],
};
const DEMANDS = new Map([["a", { cores: 1, memory: 100 }]]);
const of = (state: string) =>
  ({ services: [{ name: "a-0", component: "a", state }] }) as unknown as Pick<Execution, "services">;

it("has the latest of what runs, beside what it has reserved", () => {
  expect(usedOf(LINES, DEMANDS, of("ready"), true)).toEqual({
    cores: 0.2,
    memory: 20,
    coresReserved: 1,
    memoryReserved: 100,
  });
  expect(usedOf(LINES, DEMANDS, of("ended"), true)).toBeNull();
});

it("has the peak of what has ended", () => {
  expect(usedOf(LINES, DEMANDS, of("ended"), false)).toMatchObject({ cores: 0.5, memory: 50 });
});
