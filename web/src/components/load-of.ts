import type { Schemas } from "../api/client";
import { isInForce } from "./holds";

type Node = Pick<
  Schemas["NodeView"],
  "ready" | "hold" | "cores" | "reserved_cores" | "memory_bytes" | "reserved_memory_bytes"
>;
type Counts = Schemas["StatusView"]["executions"];

/** What is reserved of the nodes that are in service, and how many executions run and wait. */
export function loadOf(nodes: Node[], counts: Counts) {
  const serving = nodes.filter((node) => node.ready && !(node.hold && isInForce(node.hold)));
  const sum = (of: (node: Node) => number) => serving.reduce((total, node) => total + of(node), 0);
  return {
    cores: { reserved: sum((node) => node.reserved_cores), total: sum((node) => node.cores) },
    memory: {
      reserved: sum((node) => node.reserved_memory_bytes),
      total: sum((node) => node.memory_bytes),
    },
    running: (counts.running ?? 0) + (counts.starting ?? 0),
    waiting: (counts.submitted ?? 0) + (counts.queued ?? 0),
  };
}
