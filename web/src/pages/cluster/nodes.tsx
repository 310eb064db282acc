import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../api/client";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { type Hold, isInForce, withDrain, withoutHold } from "../../components/holds";
import { num, Table } from "../../components/table";
import { bytes, moment, number } from "../../format";
import { NodeCharts } from "./node-charts";
import { putPolicy } from "./policy-api";

type Node = Schemas["NodeView"];
type HoldChange = { node: string; released: Hold | undefined };

const ASK_AGAIN_MS = 3_000;
const RESERVED = [
  {
    name: "cores",
    total: "cores",
    reserved: "reserved_cores",
    elastic: "elastic_cores",
    foreign: "foreign_cores",
    format: number,
  },
  {
    name: "memory",
    total: "memory_bytes",
    reserved: "reserved_memory_bytes",
    elastic: "elastic_memory_bytes",
    foreign: "foreign_memory_bytes",
    format: bytes,
  },
] as const;

export function NodesTab() {
  const { data, error, isLoading } = useQuery({
    queryKey: ["nodes"],
    queryFn: () => told(api.GET("/api/v1/nodes")),
    refetchInterval: ASK_AGAIN_MS,
  });
  const queries = useQueryClient();
  const hold = useMutation({
    mutationFn: ({ node, released }: HoldChange) =>
      putPolicy((policy) => (released ? withoutHold(policy, node, released) : withDrain(policy, node))),
    onSettled: () => queries.invalidateQueries({ queryKey: ["nodes"] }),
    meta: { done: ({ node, released }: HoldChange) => `${node} is ${released ? "released" : "drained"}.` },
  });
  if (isLoading) return <Loading what="Reading the nodes" />;
  return (
    <>
      <ErrorBox error={error ?? hold.error} />
      <Legend />
      {data?.nodes.length === 0 && <Empty>The master has not seen a node yet.</Empty>}
      <div className="card">
        <Table
          headings={[
            "Node",
            "State",
            "Cores reserved",
            "Memory reserved",
            num("Services"),
            { text: "Change", hidden: true },
          ]}
        >
          {data?.nodes.map((node) => (
            <Row
              key={node.name}
              node={node}
              onChange={(released) => hold.mutate({ node: node.name, released })}
            />
          ))}
        </Table>
      </div>
      <NodeCharts />
    </>
  );
}

function Row({ node, onChange }: { node: Node; onChange: (released?: Hold) => void }) {
  const held = node.holds.some((hold) => isInForce(hold));
  return (
    <tr>
      <td>
        {node.name}
        {Object.keys(node.labels).length > 0 && (
          <div className="faint">
            {Object.entries(node.labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(" ")}
          </div>
        )}
      </td>
      <td>
        <StateOfNode node={node} /> {node.message}
        {node.holds.map((hold, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two holds of a node may be alike
          <div key={index}>
            {holdText(hold)}{" "}
            <button type="button" onClick={() => onChange(hold)} aria-label={releaseLabel(node, hold)}>
              {isInForce(hold) ? "Release" : "Cancel"}
            </button>
          </div>
        ))}
      </td>
      {RESERVED.map(({ name, total, reserved, elastic, foreign, format }) => (
        <td key={name}>
          <Bar
            label={`${name} of ${node.name}`}
            total={node[total]}
            core={node[reserved] - node[elastic]}
            elastic={node[elastic]}
            foreign={node[foreign]}
            format={format}
          />
        </td>
      ))}
      <td className="num">{node.services}</td>
      <td>
        {!held && (
          <button type="button" onClick={() => onChange()} aria-label={`Drain ${node.name}`}>
            Drain
          </button>
        )}
      </td>
    </tr>
  );
}

/** A node that is drained is not ready for anything that begins. */
function StateOfNode({ node }: { node: Node }) {
  const holds = node.holds.filter((hold) => isInForce(hold));
  if (!node.ready) return <span className="badge bad">away</span>;
  if (holds.some((hold) => !hold.tenant))
    return <span className="badge">{node.services > 0 ? "draining" : "drained"}</span>;
  return holds.length > 0 ? (
    <span className="badge">reserved</span>
  ) : (
    <span className="badge good">ready</span>
  );
}

function releaseLabel(node: Node, hold: Hold): string {
  return isInForce(hold) ? `Release ${node.name}` : `Cancel ${moment(hold.since_s)} of ${node.name}`;
}

function holdText(hold: Hold): string {
  const what = hold.tenant ? `reserved for ${hold.tenant}` : "drained";
  const since = isInForce(hold) ? "" : ` from ${moment(hold.since_s)}`;
  const until = hold.until_s ? ` until ${moment(hold.until_s)}` : "";
  return `${what}${since}${until}${hold.note ? `: ${hold.note}` : ""}`;
}

interface BarProps {
  label: string;
  total: number;
  core: number;
  elastic: number;
  foreign: number;
  format: (value: number) => string;
}

/** What of a node is reserved: essential solid, elastic hatched, work that is not Zoe's grey. */
function Bar({ label, total, core, elastic, foreign, format }: BarProps) {
  const share = (value: number) => `${(100 * Math.max(0, value)) / Math.max(total, 1e-9)}%`;
  const text = `essential ${format(core)}, elastic ${format(elastic)}, foreign ${format(foreign)} of ${format(total)}`;
  return (
    <>
      <div className="bar" role="img" aria-label={`${label}: ${text}`} title={text}>
        <span className="core" style={{ width: share(core) }} />
        <span className="elastic" style={{ width: share(elastic) }} />
        <span className="foreign" style={{ width: share(foreign) }} />
      </div>
      <span className="num faint">
        {format(core + elastic)} of {format(total)}
      </span>
    </>
  );
}

const KINDS = { core: "essential", elastic: "elastic", foreign: "not Zoe's" };

function Legend() {
  return (
    <p className="legend" aria-hidden="true">
      {Object.entries(KINDS).map(([kind, text]) => (
        <span key={kind}>
          <span className="bar">
            <span className={kind} style={{ width: "100%" }} />
          </span>
          {text}
        </span>
      ))}
    </p>
  );
}
