import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../api/client";
import { Meter } from "../../components/meter";
import { useNow } from "../../components/now";
import { expectedText } from "../../forecast";
import { bytes, distance, moment, number } from "../../format";
import { demandsOf } from "./demands";
import { firstSampleText } from "./first-sample";
import { idleSentence, limitEndS } from "./idle";
import { mainWay } from "./ports";
import type { Execution } from "./types";
import { useUsage } from "./use-usage";
import { type Used, usedOf } from "./used";

const PRICE_EVERY_MS = 60_000;
const END_EVERY_MS = 30_000;

/** What it uses of what it has reserved, and when it will be ended. */
export function UseCard({ execution }: { execution: Execution }) {
  const { cpu, memory, intervalS } = useUsage(execution);
  const running = execution.state === "running" || execution.state === "starting";
  const used = usedOf({ cpu, memory }, demandsOf(execution), execution, running);
  if (used === null && !running) return <Price execution={execution} running={false} />;
  return (
    <section className="card" aria-label="Use">
      {used && <Meters used={used} running={running} />}
      {!used && intervalS !== null && <FirstSample execution={execution} intervalS={intervalS} />}
      <Price execution={execution} running={running} />
      {running && <Ends execution={execution} />}
    </section>
  );
}

function Meters({ used, running }: { used: Used; running: boolean }) {
  const peak = running ? "" : ", at most";
  return (
    <>
      <Meter label={`Cores${peak}`} used={used.cores} limit={used.coresReserved} format={number} />
      <Meter label={`Memory${peak}`} used={used.memory} limit={used.memoryReserved} format={bytes} />
    </>
  );
}

/** What it costs so far, where there is a price list. */
function Price({ execution, running }: { execution: Execution; running: boolean }) {
  const { data } = useQuery({
    queryKey: ["price", execution.id, execution.version],
    queryFn: () => told(api.GET("/api/v1/usage/executions", { params: { query: { id: [execution.id] } } })),
    refetchInterval: running ? PRICE_EVERY_MS : false,
  });
  const use = data?.use[0];
  if (!use?.price) return null;
  const unused = use.unused ? `, of which ${use.unused} for what it did not use` : "";
  return (
    <p className="num">
      Price{running ? " so far" : ""}: {use.price.amount} {use.price.currency}
      {unused}
    </p>
  );
}

function FirstSample({ execution, intervalS }: { execution: Execution; intervalS: number }) {
  return <p className="faint">{firstSampleText(execution, intervalS, useNow())}</p>;
}

/** When it is expected to end, by its declared or learned run time. */
function ExpectedEnd({ execution }: { execution: Execution }) {
  const now = useNow(10_000);
  const { data } = useQuery({
    queryKey: ["execution", execution.id, "eta"],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/eta", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    refetchInterval: END_EVERY_MS,
  });
  const end = data?.run_time_source === "time_limit" ? null : data?.forecast;
  if (typeof end?.end_p50_s !== "number" || typeof end.end_p90_s !== "number") return null;
  return <p className="num">Expected end: {expectedText(end.end_p50_s, end.end_p90_s, now)}.</p>;
}

/** Ends that are known beforehand: its time limit, and that of applications that nobody uses. */
function Ends({ execution }: { execution: Execution }) {
  const now = useNow(10_000);
  const { data: policy } = useQuery({
    queryKey: ["policy"],
    queryFn: () => told(api.GET("/api/v1/policy")),
  });
  const endS = limitEndS(execution);
  const culled = execution.description.kind === "interactive" && mainWay(execution) !== null;
  return (
    <>
      <ExpectedEnd execution={execution} />
      {endS !== null && (
        <p>
          Its time limit ends it at {moment(endS)} ({distance(endS, now)}).
        </p>
      )}
      {culled && policy && <p>{idleSentence(policy)}</p>}
    </>
  );
}
