import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../api/client";
import { instancesText } from "./instances-text";
import type { Execution } from "./types";

const ASK_AGAIN_MS = 5_000;

/** How many instances of its elastic components run, and why fewer than preferred do. */
export function Instances({ execution }: { execution: Execution }) {
  const counts = execution.instances ?? [];
  const placed = execution.state === "starting" || execution.state === "running";
  const short = placed && counts.some(({ given, preferred }) => given < preferred);
  const { data: why } = useQuery({
    queryKey: ["execution", execution.id, "explain"],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/explain", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    refetchInterval: ASK_AGAIN_MS,
    enabled: short,
  });
  if (!placed || counts.length === 0) return null;
  return (
    <section className="card" aria-label="Instances">
      {counts.map((count) => (
        <p className="num" key={count.component}>
          {instancesText(count)}
        </p>
      ))}
      {short && why?.fewer && <p>Fewer than preferred: {why.fewer.sentence}</p>}
    </section>
  );
}
