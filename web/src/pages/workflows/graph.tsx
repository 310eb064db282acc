import { Link } from "react-router";
import { LOOK } from "./badge";
import { layOut, NODE_HEIGHT, NODE_WIDTH, type Node, pathOf, type Step, stateOf, words } from "./layout";

const NAME_MAX = 22;
const WORDS_MAX = 30;

/** The steps and what they run after. A step leads to its execution, one with a matrix to its rows in the table. */
export function Graph({ steps }: { steps: Step[] }) {
  const drawing = layOut(steps);
  return (
    <div className="scroll" tabIndex={0}>
      <svg
        className="workflow-graph"
        width={drawing.width}
        height={drawing.height}
        role="group"
        aria-label="Graph of the steps"
      >
        {drawing.edges.map(({ from, to, kind }) => (
          <path
            key={`${from.name} ${to.name}`}
            className={`edge ${kind}`}
            d={curve(from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2, to.x, to.y + NODE_HEIGHT / 2)}
          >
            <title>{`${to.name} runs after ${MEANING[kind] ?? "the end"} of ${from.name}`}</title>
          </path>
        ))}
        {drawing.nodes.map((node) => (
          <Box key={node.name} node={node} />
        ))}
      </svg>
    </div>
  );
}

const MEANING: Record<string, string> = { ok: "success", fail: "failure", any: "the end" };

function Box({ node }: { node: Node }) {
  const state = stateOf(node);
  const [only] = node.steps;
  const told = words(node).slice(0, WORDS_MAX);
  const name = node.name.length > NAME_MAX ? `${node.name.slice(0, NAME_MAX - 1)}…` : node.name;
  const to = node.steps.length === 1 && only ? pathOf(only) : `#step-${node.name}`;
  return (
    <Link to={to} aria-label={`${name} ${told}`}>
      <g className={`node ${LOOK[state]}`} transform={`translate(${node.x} ${node.y})`}>
        <title>{`${node.name}: ${words(node)}`}</title>
        <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx="6" />
        <text x="12" y="23" className="name">
          {name}
        </text>{" "}
        <text x="12" y="42">
          {told}
        </text>
      </g>
    </Link>
  );
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2;
  return `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`;
}
