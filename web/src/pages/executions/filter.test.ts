import { expect, it } from "vitest";
import { readFilter, writeFilter } from "./filter";

it("comes out of the address as it went in", () => {
  const filter = {
    state: ["queued" as const, "running" as const],
    user: "ada & co",
    name: "100%",
    deadline: "missed" as const,
    all_tenants: true,
  };
  expect(readFilter(writeFilter(filter))).toEqual(filter);
  expect(readFilter(new URLSearchParams())).toEqual({ state: [] });
});

it("leaves out what is no state", () => {
  expect(readFilter(new URLSearchParams("state=nonsense&state=failed")).state).toEqual(["failed"]);
  expect(readFilter(new URLSearchParams("deadline=nonsense")).deadline).toBeUndefined();
});
