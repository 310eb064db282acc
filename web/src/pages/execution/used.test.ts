import { expect, it } from "vitest";
import type { Execution } from "./types";
import { usedOf } from "./used";

const LINES = {
  cpu: [{ id: "a1", label: "a-0", values: [null, 0.5, undefined, 0.2] }],
  memory: [
    { id: "a1", label: "a-0", values: [30, 50, 20, undefined] },
    { id: "gone", label: "gone-0", values: [9] },
  ],
};
const DEMANDS = new Map([["a", { cores: 1, memory: 100 }]]);
const of = (state: string) =>
  ({ services: [{ id: "a1", name: "a-0", component: "a", state }] }) as unknown as Pick<
    Execution,
    "services"
  >;

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

it("counts one attempt of each service", () => {
  const lines = {
    cpu: [1, 2, 3].map((id) => ({ id: `a${id}`, label: "a-0", values: [0.1 * id] })),
    memory: [1, 2, 3].map((id) => ({ id: `a${id}`, label: "a-0", values: [10 * id] })),
  };
  const attempts = (last: string) =>
    ({
      services: ["ended", "ended", last].map((state, index) => ({
        id: `a${index + 1}`,
        name: "a-0",
        component: "a",
        state,
      })),
    }) as unknown as Pick<Execution, "services">;
  const reserved = { coresReserved: 1, memoryReserved: 100 };
  expect(usedOf(lines, DEMANDS, attempts("ready"), true)).toMatchObject({ memory: 30, ...reserved });
  expect(usedOf(lines, DEMANDS, attempts("ended"), false)).toMatchObject({ memory: 30, ...reserved });
});
