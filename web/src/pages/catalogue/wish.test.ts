import { expect, it } from "vitest";
import { NO_WISH, readWish, withWish, writeWish } from "./wish";

it("is kept in the page's address", () => {
  const query = new URLSearchParams();
  writeWish(query, NO_WISH);
  expect(String(query)).toBe("");
  expect(readWish(query)).toEqual(NO_WISH);
  const wish = { wanted: true, confidence: "95", budget: "12.5" };
  writeWish(query, wish);
  expect(readWish(query)).toEqual(wish);
});

it("becomes a part of the description, with what was typed only", () => {
  const document = { name: "a" };
  expect(withWish(document, { ...NO_WISH, budget: "3" })).toBe(document);
  expect(withWish(document, { wanted: true, confidence: "95", budget: "12.5" })).toEqual({
    name: "a",
    promise: { confidence: 0.95, budget: 12.5 },
  });
  expect(withWish(document, { wanted: true, confidence: "", budget: "" })).toEqual({
    name: "a",
    promise: {},
  });
});
