import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo, useState } from "react";
import { api, told } from "../../api/client";
import { busiest } from "../../components/bandwidth-lines";
import { BandwidthPlot } from "../../components/bandwidth-plot";
import { ErrorBox } from "../../components/feedback";
import { LastHours } from "../../components/last-hours";
import { StoreExecutions } from "./store-executions";

const ASK_AGAIN_MS = 10_000;
const TENANTS_MAX = 8;
const DAY = 24;

interface StorageChartsProps {
  /** Whose they are; else of all tenants. */
  of?: string;
  /** Nothing is said where nobody used the store. */
  onlyIfUsed?: boolean;
}

/** What tenants moved over time beside what they were granted, a plot a tenant, with its executions. */
export function StorageCharts({ of, onlyIfUsed = false }: StorageChartsProps) {
  const [hours, setHours] = useState(of ? DAY : 1);
  const { data, error } = useQuery({
    queryKey: ["bandwidth-over-time", hours],
    queryFn: () =>
      told(
        api.GET("/api/v1/storage/over-time", {
          params: { query: { from_s: Date.now() / 1000 - hours * 3600 } },
        }),
      ),
    refetchInterval: ASK_AGAIN_MS,
  });
  const tenants = useMemo(() => busiest(data?.points ?? [], TENANTS_MAX), [data]);
  if (onlyIfUsed && hours === DAY && tenants.length === 0) return null;
  return (
    <section aria-label="Bandwidth over time">
      <div className="row">
        <h2>Bandwidth over time</h2>
        <LastHours hours={hours} onChange={setHours} />
        {tenants.length === TENANTS_MAX && (
          <span className="faint">of the {TENANTS_MAX} tenants with most</span>
        )}
      </div>
      <ErrorBox error={error} />
      {data && tenants.length === 0 && (
        <p className="faint">
          {of ? `${of} did not use the object store` : "No tenant used the store"} in this period.
        </p>
      )}
      {data &&
        tenants.map(([tenant, points]) => (
          <Fragment key={tenant}>
            <BandwidthPlot
              label={`Bandwidth of ${tenant}, achieved and granted`}
              told={data}
              points={points}
            />
            <StoreExecutions tenant={tenant} fromS={data.from_s} toS={data.to_s} />
          </Fragment>
        ))}
    </section>
  );
}
