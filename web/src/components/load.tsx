import { useQuery } from "@tanstack/react-query";
import { api, told } from "../api/client";
import { bytes, number } from "../format";
import { loadOf } from "./load-of";

const ASK_AGAIN_MS = 10_000;

/** How full the cluster is, and how many executions run and wait. */
export function Load() {
  const { data } = useQuery({
    queryKey: ["load"],
    queryFn: async () => {
      const [nodes, status] = await Promise.all([
        told(api.GET("/api/v1/nodes")),
        told(api.GET("/api/v1/status")),
      ]);
      return loadOf(nodes.nodes, status.executions);
    },
    refetchInterval: ASK_AGAIN_MS,
  });
  if (!data) return null;
  const { cores, memory, running, waiting } = data;
  return (
    <p className="faint" role="status" aria-label="Load">
      {number(cores.reserved)} of {number(cores.total)} cores and {bytes(memory.reserved)} of{" "}
      {bytes(memory.total)} of memory are reserved; {number(running)} running, {number(waiting)} waiting
    </p>
  );
}
