import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Changes } from "./changes";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("reads what has changed together, each row once", async () => {
  const read = vi.fn(async (_ids: string[]) => {});
  const changes = new Changes(read);
  for (const id of ["a", "b", "a"]) changes.add(id);
  expect(read).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(250);
  expect(read.mock.calls).toEqual([[["a", "b"]]]);
  expect(vi.getTimerCount()).toBe(0);
});

it("tries again what could not be read, after longer and longer pauses, though no event comes any more", async () => {
  let away = true;
  const times: number[] = [];
  const begin = Date.now();
  const changes = new Changes(async () => {
    times.push(Date.now() - begin);
    if (away) throw new Error("does not answer");
  });
  changes.add("a");
  await vi.advanceTimersByTimeAsync(60_000);
  const pauses = times.map((time, index) => time - (times[index - 1] ?? 0));
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000]);
  away = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(vi.getTimerCount()).toBe(0);
  changes.add("b");
  await vi.advanceTimersByTimeAsync(250);
  expect(times.length).toBe(pauses.length + 2);
});

it("tries only those again that were not read, with what has come since", async () => {
  const ids = Array.from({ length: 150 }, (_, number) => `e-${number}`);
  const read = vi.fn(async (some: string[]) => {
    if (read.mock.calls.length === 1) {
      changes.add("later");
      throw new Error(`${some.length} were not read`);
    }
  });
  const changes = new Changes(read);
  for (const id of ids) changes.add(id);
  await vi.advanceTimersByTimeAsync(60_000);
  const asked = read.mock.calls.map(([some]) => new Set(some));
  expect(asked.slice(0, 2)).toEqual([new Set(ids.slice(0, 100)), new Set(ids.slice(100))]);
  expect(asked.slice(2).map((some) => some.size)).toEqual([100, 1]);
  expect(asked.slice(2).some((some) => some.has("later"))).toBe(true);
});

it("lets go when it is stopped, while it reads, too", async () => {
  const changes = new Changes(async () => {
    changes.stop();
    throw new Error("does not answer");
  });
  changes.add("a");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});
