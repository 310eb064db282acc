import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../api/client";
import type { Execution } from "./types";

const ASK_AGAIN_MS = 5_000;

/** What its tenant was granted by the store and moved, from its start to its end, or to now. */
export function useBandwidth({ tenant, marks, outcome }: Execution) {
  const startS = marks.placed;
  const endS = marks.ended ?? null;
  return useQuery({
    queryKey: ["bandwidth-over-time", tenant, startS, endS],
    queryFn: () =>
      told(
        api.GET("/api/v1/storage/over-time", {
          params: { query: { tenant, from_s: startS ?? 0, to_s: endS } },
        }),
      ),
    enabled: startS !== undefined,
    refetchInterval: outcome === null ? ASK_AGAIN_MS : false,
  });
}
