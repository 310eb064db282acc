import { expect, test } from "vitest";
import { layOut, NODE_WIDTH, pathOf, type Step, stateOf, words } from "./layout";

function step(name: string, after: string[], state: Step["state"] = "waiting"): Step {
  return {
    name,
    step: name.split(".")[0] ?? name,
    values: {},
    after,
    on_failure: false,
    execution_id: `x${name}`,
    run: 1,
    state,
    cause: null,
    message: "",
    exit_code: null,
    started_at_s: null,
    ended_at_s: null,
    results: {},
    for_each: {},
    entries: null,
  };
}

const GRAPH = [
  step("prepare", [], "succeeded"),
  step("train.0", ["ok:prepare"], "succeeded"),
  step("train.1", ["ok:prepare"], "failed"),
  step("report", ["ok:train.0", "ok:train.1", "ok:prepare"], "skipped"),
  step("alarm", ["fail:train.0", "fail:train.1"], "running"),
];

test("each step stands right of all that it runs after, and a matrix is one node", () => {
  const { nodes, edges } = layOut(GRAPH);
  expect(nodes.map((node) => node.name)).toEqual(["prepare", "train", "report", "alarm"]);
  for (const { from, to } of edges) expect(to.x).toBeGreaterThanOrEqual(from.x + NODE_WIDTH);
  expect(edges.map(({ from, to, kind }) => `${from.name} ${kind} ${to.name}`)).toEqual([
    "prepare ok train",
    "train ok report",
    "prepare ok report",
    "train fail alarm",
  ]);
});

test("no two nodes cover each other", () => {
  const places = layOut(GRAPH).nodes.map((node) => `${node.x} ${node.y}`);
  expect(new Set(places).size).toBe(places.length);
});

test("a state is told in words; of a matrix, the one to look at first", () => {
  const [, train, report] = layOut(GRAPH).nodes;
  if (train === undefined || report === undefined) throw new Error("missing");
  expect([stateOf(train), words(train)]).toEqual(["failed", "1 failed, 1 succeeded"]);
  expect(words(report)).toBe("skipped");
});

test("a step that runs for a list tells how many entries have succeeded, and leads to its array", () => {
  const entries = { count: 3, states: { succeeded: 1, failed: 2 }, problem: null };
  const mapped = (more: Partial<Step>) => ({ ...step("count", [], "failed"), entries, ...more });
  const told = (more: Partial<Step>) => layOut([mapped(more)]).nodes.map(words);
  expect(told({})).toEqual(["failed, 1 of 3 entries"]);
  expect(told({ state: "succeeded", entries: { ...entries, count: 0, states: {} } })).toEqual([
    "succeeded, 0 entries",
  ]);
  expect(told({ entries: { count: null, states: {}, problem: "list_bad_entry" } })).toEqual([
    "failed, its list is refused",
  ]);
  expect([pathOf(mapped({})), pathOf(step("a", []))]).toEqual(["/arrays/xcount", "/executions/xa"]);
});

test("a workflow of which nothing is visible is drawn empty", () => {
  expect(layOut([]).nodes).toEqual([]);
});
