import { useQuery } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../api/client";
import { Hint } from "../../components/hint";
import { useNow } from "../../components/now";
import { OwnUse } from "../../components/own-use";
import { Table } from "../../components/table";
import { Documentation } from "../../documentation";
import { expectedText } from "../../forecast";
import { clock, duration } from "../../format";
import { changeText } from "./change-text";
import { placesText } from "./places";
import type { Execution } from "./types";

const ASK_AGAIN_MS = 5_000;

/** Why it waits, what would help, who is ahead, and when it is expected to start. */
export function Waiting({ execution, operates }: { execution: Execution; operates: boolean }) {
  const params = { path: { execution_id: execution.id } };
  const { data: why } = useQuery({
    queryKey: ["execution", execution.id, "explain"],
    queryFn: () => told(api.GET("/api/v1/executions/{execution_id}/explain", { params })),
    refetchInterval: ASK_AGAIN_MS,
  });
  const { data: eta } = useQuery({
    queryKey: ["execution", execution.id, "eta"],
    queryFn: () => told(api.GET("/api/v1/executions/{execution_id}/eta", { params })),
    refetchInterval: ASK_AGAIN_MS,
  });
  const reason = why?.reason ?? execution.reason;
  return (
    <section className="card" aria-label="Why it waits">
      <h2>{reason ? reason.sentence : "It waits for the next tick"}</h2>
      {why?.missing_secrets && <p>It will fail to start: {why.missing_secrets}</p>}
      {why?.own_use && <OwnUse own={why.own_use} startS={eta?.forecast?.start_p50_s ?? why.start_p50_s} />}
      <Hint hint={reason?.hint} />
      {why?.change && <p>The smallest change that would start it now: {changeText(why.change)}</p>}
      {why && !why.change && why.cut_after_steps != null && (
        <p>
          Not all changes with which it might start now were tried: the search was cut after{" "}
          {why.cut_after_steps.toLocaleString("en")} steps.
        </p>
      )}
      {why && !why.detailed && why.problem && (
        <p className="faint">The master gives no answer on it now: {why.problem}</p>
      )}
      <dl className="facts">
        {why?.ahead !== null && why?.ahead !== undefined && (
          <>
            <dt>Position</dt>
            <dd>
              {why.ahead === 0
                ? "first in the queue"
                : `${why.ahead} ahead of it, ${why.ahead_of_tenant} of its tenant`}
            </dd>
          </>
        )}
        <ForecastFacts forecast={eta?.forecast ?? execution.forecast} code={reason?.code} />
        {eta && eta.told > 0 && (
          <>
            <dt>Accuracy</dt>
            <dd>
              {eta.held} of {eta.told} forecasts here held (their start came by the p90)
            </dd>
          </>
        )}
        {reason && (
          <>
            <dt>Code</dt>
            <dd>
              <p>
                <code>{reason.code}</code> (<Documentation page="waiting">what it means</Documentation>)
              </p>
            </dd>
          </>
        )}
      </dl>
      {why?.places?.map((one) => (
        <p className="faint" key={one.name}>
          Input <code>{one.name}</code>: {placesText(one)}
        </p>
      ))}
      {operates && why && Object.keys(why.nodes ?? {}).length > 0 && <NodesWhy nodes={why.nodes ?? {}} />}
    </section>
  );
}

function ForecastFacts({
  forecast,
  code,
}: {
  forecast: Schemas["ForecastView"] | null;
  code: string | undefined;
}) {
  const now = useNow(5_000);
  if (!forecast) return null;
  if (forecast.start_p90_s === null) {
    const why =
      code === "nodes_away" || code === "no_nodes"
        ? "the nodes that it needs are down, drained or reserved"
        : code === "window_ahead"
          ? "it may not have ended when nodes that it needs are drained or reserved"
          : code === "foreign_use"
            ? "programs that Zoe does not run use resources that it needs"
            : "no running execution has a known end";
    return (
      <>
        <dt>Start</dt>
        <dd>cannot be foretold: {why}</dd>
      </>
    );
  }
  return (
    <>
      <dt>Start</dt>
      <dd className="num">{expectedText(forecast.start_p50_s, forecast.start_p90_s, now)}</dd>
      {forecast.end_p90_s !== null && forecast.start_p90_s > now && (
        <>
          <dt>End</dt>
          <dd className="num">{expectedText(forecast.end_p50_s, forecast.end_p90_s, now)}</dd>
        </>
      )}
    </>
  );
}

function NodesWhy({ nodes }: { nodes: Record<string, Record<string, string>> }) {
  return (
    <details>
      <summary>Node by node</summary>
      <Table headings={["Node", "Component", "Refused because"]}>
        {Object.entries(nodes).flatMap(([node, components]) =>
          Object.entries(components).map(([component, why]) => (
            <tr key={`${node}/${component}`}>
              <td>{node}</td>
              <td>{component}</td>
              <td>{why}</td>
            </tr>
          )),
        )}
      </Table>
    </details>
  );
}

/** Where the time before the start went, once it has started. */
export function WhyWaited({ execution }: { execution: Execution }) {
  const { data } = useQuery({
    queryKey: ["execution", execution.id, "waits", execution.attempt],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/waits", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
  });
  if (!data || data.waited_s < 0.1) return null;
  return (
    <details className="card">
      <summary>
        It waited {duration(data.waited_s)}:{" "}
        {data.causes
          .filter((one) => one.percent > 0)
          .map((one) => `${one.cause.replaceAll("_", " ")} ${one.percent} %`)
          .join(", ")}
      </summary>
      <Table headings={["From", "For", "Cause", "Reason given then"]}>
        {data.spans.map((span) => (
          <tr key={span.since_s}>
            <td className="time">{clock(span.since_s)}</td>
            <td className="num">{duration(span.until_s - span.since_s)}</td>
            <td>{span.cause.replaceAll("_", " ")}</td>
            <td>{span.sentence}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
