import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../../api/client";

const ASK_AGAIN_MS = 5_000;
export const METRICS = ["storage-metrics"];
export const CONTROLLERS = ["storage-controllers"];

/** Metrics that were added for rules, with their values. */
export function useMetrics() {
  return useQuery({
    queryKey: METRICS,
    queryFn: () => told(api.GET("/api/v1/storage/metrics")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
}

/** Controllers without their switches, and the proxies. */
export function useControllers() {
  return useQuery({
    queryKey: CONTROLLERS,
    queryFn: () => told(api.GET("/api/v1/storage/controllers")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
}
