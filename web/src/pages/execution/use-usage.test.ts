import { expect, it } from "vitest";
import type { Execution } from "./types";
import { linesOf } from "./use-usage";

const EXECUTION = { services: [{ id: "s1", name: "main-0" }] } as unknown as Pick<Execution, "services">;

function sample(serviceId: string, atS: number, cpuS: number) {
  return { execution_id: "e", service_id: serviceId, node: "n", at_s: atS, cpu_s: cpuS, memory_bytes: 10 };
}

it("makes cores of CPU seconds, a line a service", () => {
  const { times, cpu } = linesOf([sample("s1", 10, 1), sample("s2", 11, 5), sample("s1", 12, 4)], EXECUTION);
  expect(times).toEqual([10, 11, 12]);
  expect(cpu).toEqual([
    { id: "s1", label: "main-0", values: [undefined, undefined, 1.5] },
    { id: "s2", label: "s2", values: [undefined, undefined, undefined] },
  ]);
});

it("puts what was measured within a second side by side, services by name", () => {
  const services = [
    { id: "s10", name: "main-10" },
    { id: "s2", name: "main-2" },
  ];
  const samples = [
    sample("s10", 10.1, 1),
    sample("s2", 10.3, 1),
    sample("s10", 12.1, 2),
    sample("s2", 12.3, 3),
  ];
  const { times, cpu } = linesOf(samples, { services } as unknown as Pick<Execution, "services">);
  expect(times).toEqual([10, 12]);
  expect(cpu.map((line) => line.label)).toEqual(["main-2", "main-10"]);
  expect(cpu.map((line) => line.values[0])).toEqual([undefined, undefined]);
});

it("breaks the line where a service was not measured for long, and not where others were measured between", () => {
  const samples = [
    sample("s1", 10, 1),
    sample("s2", 12, 1),
    sample("s1", 15, 2),
    sample("s2", 50, 2),
    sample("s1", 100, 3),
  ];
  const { cpu, memory } = linesOf(samples, EXECUTION);
  expect(cpu[0]?.values).toEqual([undefined, undefined, 0.2, undefined, null]);
  expect(memory[0]?.values).toEqual([10, undefined, 10, null, 10]);
});
