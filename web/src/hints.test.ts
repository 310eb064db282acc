import { expect, it } from "vitest";
import { pageHint } from "./hints";

it("names the page's own buttons instead of commands", () => {
  expect(pageHint("`zoe eta x1` shows when it is expected to start")).toBe("");
  expect(pageHint("`zoe show x1` shows the offers, and `zoe accept x1 NUMBER` accepts one")).toBe(
    "Accept takes one of its offers",
  );
  expect(pageHint("see `zoe nodes`; executions start when a node is back")).toBe(
    "executions start when a node is back",
  );
  expect(pageHint("it starts when enough running services have ended")).toBe(
    "it starts when enough running services have ended",
  );
});
