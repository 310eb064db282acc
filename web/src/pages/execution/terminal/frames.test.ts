import { expect, it } from "vitest";
import { endText, problemText } from "./connection";
import { countOf, INPUT, message, sized, taken } from "./frames";

it("writes messages as the server reads them", () => {
  expect([...message(INPUT, new Uint8Array([1, 2]))]).toEqual([0x69, 1, 2]);
  expect([...sized(30, 300)]).toEqual([0x77, 0, 30, 1, 44]);
  expect([...taken(65_537)]).toEqual([0x61, 0, 1, 0, 1]);
  expect(countOf(taken(65_537).subarray(1))).toBe(65_537);
});

it("says how a terminal ended, and why there is none", () => {
  expect(endText('{"exit_code": 3, "message": ""}')).toBe("It ended with exit code 3.");
  expect(endText('{"exit_code": null, "message": "the service has ended"}')).toBe(
    "It ended: the service has ended",
  );
  expect(problemText('{"title": "There is no terminal", "detail": "too many are open"}')).toBe(
    "There is no terminal: too many are open",
  );
  expect(problemText("no JSON")).toBe("The connection to the server broke.");
});
