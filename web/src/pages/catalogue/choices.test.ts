import { expect, it } from "vitest";
import { cheapestWithin, choicesOf, fromNow } from "./choices";

const RUN = { p50_s: 0, samples: 9, wide: false };

function priced(elastic: number, p90: number, amount: string) {
  const price = { amount, basis: "forecast", currency: "EUR", gaps: [], run_s: p90 };
  return { ...RUN, elastic, cores: elastic + 1, p90_s: p90, price };
}

it("keeps what is earlier than all that is cheaper", () => {
  const found = choicesOf([
    priced(0, 400, "1.0"),
    priced(1, 200, "1.5"),
    priced(2, 210, "2"),
    priced(4, 100, "3"),
  ]);
  expect(found?.unit).toBe("EUR");
  expect(found?.choices.map((one) => one.elastic)).toEqual([0, 1, 4]);
  expect(choicesOf([priced(0, 400, "1")])).toBeNull();
  expect(choicesOf([])).toBeNull();
});

it("counts core-hours without prices", () => {
  const found = choicesOf([
    { ...RUN, elastic: 0, cores: 1, p50_s: 3600, p90_s: 4000 },
    { ...RUN, elastic: 3, cores: 4, p50_s: 1800, p90_s: 2000 },
  ]);
  expect(found).toEqual({
    unit: "core-hours",
    choices: [
      { elastic: 0, runS: 4000, price: 1 },
      { elastic: 3, runS: 2000, price: 2 },
    ],
  });
});

it("takes the cheapest in time, else the fastest", () => {
  const choices = [
    { elastic: 0, runS: 400, price: 1 },
    { elastic: 1, runS: 200, price: 2 },
  ];
  expect(cheapestWithin(choices, 400)?.elastic).toBe(0);
  expect(cheapestWithin(choices, 399)?.elastic).toBe(1);
  expect(cheapestWithin(choices, 5)?.elastic).toBe(1);
});

it("writes a deadline from now", () => {
  expect(fromNow(89.2)).toBe("+90s");
  expect(fromNow(4321)).toBe("+1h13m");
});
