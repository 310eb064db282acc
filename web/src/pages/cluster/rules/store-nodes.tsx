import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { Dialog } from "../../../components/dialog";
import { Empty, ErrorBox, Loading } from "../../../components/feedback";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { Table } from "../../../components/table";
import { moment, number } from "../../../format";
import { detailsOf, LOOKS, restartText, warningOf } from "./store-node";

const NODES = ["storage-nodes"];
const ASK_AGAIN_MS = 5_000;

/** The servers of the object store: how each is and why, when it replicated last, and restarts. */
export function StoreNodesPart() {
  const queries = useQueryClient();
  const nodes = useQuery({
    queryKey: NODES,
    queryFn: () => told(api.GET("/api/v1/storage/nodes")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  const [asked, setAsked] = useState<Schemas["StorageNodeView"] | null>(null);
  const restart = useOneAtATime({
    mutationFn: (name: string) =>
      told(api.POST("/api/v1/storage/nodes/{name}/restart", { params: { path: { name } } })),
    onSuccess: () => setAsked(null),
    onSettled: () => queries.invalidateQueries({ queryKey: NODES }),
  });
  if (nodes.isLoading) return <Loading what="Loading the store's nodes" />;
  if (nodes.error) return <ErrorBox error={nodes.error} />;
  if (!nodes.data) return null;
  if (nodes.data.nodes.length === 0)
    return <Empty>No node is watched: name them in swift_nodes, a setting of zoe-storage.</Empty>;
  const close = () => {
    restart.reset();
    setAsked(null);
  };
  return (
    <>
      <section className="card" aria-label="Nodes of the store">
        <Table headings={["Node", "State", "Disks", "Replicated last", "Restart"]}>
          {nodes.data.nodes.map((node) => (
            <Row key={node.name} node={node} onRestart={() => setAsked(node)} />
          ))}
        </Table>
        <p className="faint">
          The storage controller asks each of them at an interval, and says why one is not up. Nothing is
          restarted by itself.
        </p>
      </section>
      {asked && (
        <Dialog title={`Restart ${asked.name}?`} onClose={close}>
          <p>{warningOf(asked)}</p>
          <ErrorBox error={restart.error} />
          <div className="row">
            <button
              type="button"
              className="danger"
              disabled={restart.isPending}
              onClick={() => restart.mutate(asked.name)}
            >
              Restart {asked.name}
            </button>
            <button type="button" onClick={close}>
              Leave it as it is
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Row({ node, onRestart }: { node: Schemas["StorageNodeView"]; onRestart: () => void }) {
  return (
    <tr>
      <td className="long">
        <strong>{node.name}</strong>
        <div className="faint">{node.kind}</div>
      </td>
      <td className="long">
        <span className={`badge ${LOOKS[node.state]}`}>{node.state}</span> {node.reason}
        {node.since_s != null && <div className="faint">since {moment(node.since_s)}</div>}
        {node.latency_s != null && (
          <div className="faint">it answered in {number(node.latency_s * 1000)} ms</div>
        )}
      </td>
      <td className="long">
        {detailsOf(node).map((text) => (
          <div key={text}>{text}</div>
        ))}
      </td>
      <td>
        {node.replicated_s == null ? <span className="faint">not told</span> : moment(node.replicated_s)}
      </td>
      <td>
        {node.restartable ? (
          <button type="button" aria-label={`Restart ${node.name}`} onClick={onRestart}>
            Restart
          </button>
        ) : (
          <span className="faint">not set up</span>
        )}
        {node.restart && (
          <>
            <div>{restartText(node.restart)}</div>
            {node.restart.output && (
              <details>
                <summary aria-label={`What it said when ${node.name} was restarted`}>What it said</summary>
                <pre>{node.restart.output}</pre>
              </details>
            )}
          </>
        )}
      </td>
    </tr>
  );
}
