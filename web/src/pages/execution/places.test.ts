import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { placesText } from "./places";

const PLACES: Schemas["InputPlacesView"] = {
  name: "meters",
  known: true,
  objects: 4,
  bytes: 4 * 2 ** 20,
  listed: 4,
  complete: true,
  nodes: [
    { node: "n2", objects: 3, bytes: 3 * 2 ** 20, services: 0 },
    { node: "n1", objects: 1, bytes: 2 ** 20, services: 0 },
  ],
};

test("of one that waits, the nodes that hold most are told", () => {
  expect(placesText(PLACES)).toBe(
    "3 of 4 objects (3 MiB of 4 MiB) on node n2; 1 of 4 objects (1 MiB of 4 MiB) on node n1",
  );
});

test("of one that runs, only the nodes with its services", () => {
  const nodes = [...(PLACES.nodes ?? []), { node: "n9", objects: 0, bytes: 0, services: 2 }];
  expect(placesText({ ...PLACES, nodes })).toBe(
    "0 of 4 objects (0 B of 4 MiB) on node n9, which has 2 services of it",
  );
});

test("a sample is called one, and what is not known is said", () => {
  expect(placesText({ ...PLACES, listed: 500 })).toContain("(a sample of 500)");
  expect(placesText({ ...PLACES, complete: false })).toContain("(a sample of more than 4)");
  expect(placesText({ ...PLACES, known: false })).toBe("Zoe does not know which nodes hold its objects");
  expect(placesText({ ...PLACES, nodes: [] })).toBe("no node holds any of its 4 objects");
  expect(placesText({ ...PLACES, objects: 0 })).toBe("it has no objects");
});
