import { expect, it } from "vitest";
import {
  earlySentence,
  inWhat,
  lateSentence,
  riskSentence,
  runnable,
  termsPrice,
  termsSentence,
} from "./promise";

const TERMS = {
  finish_s: 7200,
  confidence: 0.95,
  elastic: 4,
  read_bytes_per_s: null,
  views: null,
  run_s: 4320,
  begin_by_s: 2400,
  price: "3.20",
  currency: "EUR",
  runs: 23,
  wide: false,
};

it("says what is promised, with times in full", () => {
  expect(termsSentence(TERMS)).toMatch(
    /^It ends by 1 Jan 1970, .* with 95 % confidence, with 4 elastic services guaranteed, for about 3.20 EUR\. /,
  );
  expect(termsSentence(TERMS)).toMatch(/It begins by 1 Jan 1970, .* and takes 1 h 12 min \(by 23 runs\)\.$/);
});

it("says less where less is known", () => {
  const little = { ...TERMS, elastic: 1, read_bytes_per_s: 2e8, price: null, runs: 0, wide: true };
  expect(termsSentence(little)).toContain("with 1 elastic service, 200 MB/s to read guaranteed. It begins");
  expect(termsSentence(little)).toContain("(by its declared run time; a guess)");
  expect(termsPrice(little)).toBe("not known");
  expect(termsSentence({ ...little, views: true })).toContain(
    "200 MB/s to read, views of its inputs guaranteed.",
  );
});

it("says in what an offer differs, and why a promise is at risk", () => {
  expect(inWhat({ kind: "less_sure" })).toBe("In time, less surely");
  expect(riskSentence({ risk: "slower", end_s: 9000 })).toMatch(
    /takes longer than expected\. It is expected to end at 1 Jan 1970, .*:30:00/,
  );
});

it("says what an early one keeps in its present attempt", () => {
  const adjusted = { elastic: 1, attempt: 1, at_s: 5 };
  const promise = { terms: TERMS, at_s: 0, offer: 0, notice: null, adjusted };
  expect(earlySentence(promise, 1)).toBe("It is early: 1 elastic service guaranteed at present.");
  expect(earlySentence(promise, 2)).toBeNull();
  expect(earlySentence({ ...promise, adjusted: { ...adjusted, elastic: 4 } }, 1)).toBeNull();
  expect(earlySentence({ ...promise, adjusted: null }, 1)).toBeNull();
});

it("says what a late one gets in its present attempt", () => {
  const adjusted = { elastic: 4, attempt: 1, at_s: 5, read_bytes_per_s: 20_000_000 };
  const promise = { terms: TERMS, at_s: 0, offer: 0, notice: null, adjusted };
  const as_promised = { ...TERMS, read_bytes_per_s: 20_000_000 };
  expect(lateSentence(promise, 1)).toBe("It is late: 20.0 MB/s to read guaranteed at present.");
  expect(lateSentence(promise, 2)).toBeNull();
  expect(lateSentence({ ...promise, terms: as_promised }, 1)).toBeNull();
  expect(lateSentence({ ...promise, adjusted: null }, 1)).toBeNull();
});

it("asks for a promise again only where the description has a time", () => {
  const plain = { version: 4, name: "x" };
  expect(runnable({ ...plain, promise: { confidence: 0.9 } })).toEqual(plain);
  const timed = { ...plain, promise: { confidence: 0.9 }, deadline: "+1h" };
  expect(runnable(timed)).toEqual(timed);
});
