import { expect, test } from "vitest";
import type { Schemas } from "../../../api/client";
import { detailsOf, restartText, warningOf } from "./store-node";

const NODE: Schemas["StorageNodeView"] = {
  name: "object-1",
  kind: "object",
  state: "up",
  reason: "",
  since_s: 1,
  at_s: 2,
  latency_s: 0.01,
  recon: true,
  disks: [],
  quarantined: 0,
  pending: null,
  replicated_s: null,
  restartable: true,
  restart: null,
};

test("details are what a node told", () => {
  const disks = [
    { name: "d1", used: 0.953 },
    { name: "d2", used: null },
  ];
  expect(detailsOf({ ...NODE, disks, pending: 2, quarantined: 3 })).toEqual([
    "d1: 95.3 % used",
    "d2: not mounted",
    "2 updates of listings waiting",
    "3 set aside",
  ]);
  expect(detailsOf(NODE)).toEqual([]);
  expect(detailsOf({ ...NODE, recon: false })).toEqual(["not told"]);
});

test("a restart is under way, done or failed", () => {
  const restart = { began_s: 1, ended_s: null, code: null, author: "ann", output: "" };
  expect(restartText(restart)).toMatch(/^begun .* by ann; it is under way$/);
  expect(restartText({ ...restart, ended_s: 3, code: 0 })).toMatch(/^done .* by ann: exit code 0$/);
  expect(restartText({ ...restart, ended_s: 3, code: 7, author: null })).toMatch(/^failed .*: exit code 7$/);
  expect(restartText({ ...restart, ended_s: 3 })).toMatch(
    /^failed .*: its program did not start, or was killed$/,
  );
});

test("who restarts a proxy is told of its clients", () => {
  expect(warningOf({ ...NODE, kind: "proxy" })).toMatch(/clients/);
  expect(warningOf(NODE)).toMatch(/replication/);
});
