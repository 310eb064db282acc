import type { Schemas } from "../../api/client";

export type Step = Schemas["StepView"];
export type StepState = Schemas["StepState"];

/** A step of the document in the drawing; a step with a matrix is one node for all its executions. */
export interface Node {
  name: string;
  steps: Step[];
  after: string[];
  x: number;
  y: number;
}

export interface Drawing {
  nodes: Node[];
  edges: { from: Node; to: Node; kind: string }[];
  width: number;
  height: number;
}

export const NODE_WIDTH = 180;
export const NODE_HEIGHT = 56;
const GAP_X = 56;
const GAP_Y = 20;
const MARGIN = 12;

/** Places each step right of all that it runs after: the work grows with steps and dependencies alone. */
export function layOut(graph: Step[]): Drawing {
  const nodes = new Map<string, Node>();
  const stepOf = new Map(graph.map((one) => [one.name, one.step]));
  const kinds = new Map<string, string>();
  // Each step stands behind those that it runs after.
  for (const step of graph) {
    const node = nodes.get(step.step) ?? { name: step.step, steps: [], after: [], x: 0, y: 0 };
    nodes.set(step.step, node);
    node.steps.push(step);
    for (const text of step.after) {
      const colon = text.indexOf(":");
      const on = stepOf.get(text.slice(colon + 1));
      if (on === undefined || kinds.has(`${on} ${step.step}`)) continue;
      kinds.set(`${on} ${step.step}`, text.slice(0, colon));
      node.after.push(on);
    }
  }
  const columns: Node[][] = [];
  const columnOf = new Map<string, number>();
  for (const node of nodes.values()) {
    const column = Math.max(-1, ...node.after.map((name) => columnOf.get(name) ?? -1)) + 1;
    columnOf.set(node.name, column);
    columns[column] = [...(columns[column] ?? []), node];
  }
  columns.forEach((column, x) => {
    column.forEach((node, y) => {
      node.x = MARGIN + x * (NODE_WIDTH + GAP_X);
      node.y = MARGIN + y * (NODE_HEIGHT + GAP_Y);
    });
  });
  const all = [...nodes.values()];
  const edges = all.flatMap((to) =>
    to.after.flatMap((name) => {
      const from = nodes.get(name);
      return from ? [{ from, to, kind: kinds.get(`${name} ${to.name}`) ?? "ok" }] : [];
    }),
  );
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  return {
    nodes: all,
    edges,
    width: 2 * MARGIN + Math.max(1, columns.length) * (NODE_WIDTH + GAP_X) - GAP_X,
    height: 2 * MARGIN + tallest * (NODE_HEIGHT + GAP_Y) - GAP_Y,
  };
}

const WORST: StepState[] = [
  "failed",
  "running",
  "queued",
  "waiting",
  "cancelled",
  "skipped",
  "not_needed",
  "succeeded",
];

/** The state of a node: that of its step, or of the matrix the one to look at first. */
export function stateOf(node: Node): StepState {
  return WORST.find((state) => node.steps.some((step) => step.state === state)) ?? "waiting";
}

/** Where a step leads: to its execution, or with `for_each` to its array. */
export function pathOf(step: Step): string {
  return step.entries ? `/arrays/${step.execution_id}` : `/executions/${step.execution_id}`;
}

/** How far the entries of a list are, such as "3 of 10 entries". */
export function entriesText(entries: NonNullable<Step["entries"]>): string {
  if (entries.count === null) return entries.problem ? "its list is refused" : "its list is not read";
  if (entries.count === 0) return "0 entries";
  return `${entries.states.succeeded ?? 0} of ${entries.count} entries`;
}

/** The state in words; of a matrix how many are in each, of a list how many entries have succeeded. */
export function words(node: Node): string {
  const [only] = node.steps;
  if (only?.entries) return `${plain(stateOf(node))}, ${entriesText(only.entries)}`;
  const counts = new Map<StepState, number>();
  for (const step of node.steps) counts.set(step.state, (counts.get(step.state) ?? 0) + 1);
  if (node.steps.length === 1) return plain(stateOf(node));
  return WORST.filter((state) => counts.has(state))
    .map((state) => `${counts.get(state)} ${plain(state)}`)
    .join(", ");
}

/** A state as people write it. */
export function plain(state: string): string {
  return state.replace("_", " ");
}
