import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { Empty, ErrorBox, Loading } from "../../../components/feedback";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { Table } from "../../../components/table";
import { duration, moment, number } from "../../../format";
import { AddMetric } from "./add-metric";
import { METRICS, useMetrics } from "./queries";
import { RemoveDialog } from "./remove-dialog";
import { placeOf } from "./wanted-metric";

type Metric = Schemas["StorageMetricView"];
const SHOWN = 5;
const SOURCES = { prometheus: "expression", python: "program", none: "a word that nothing measures" };
const MODES = { on: "", dry: "in a dry run: no rule sees its values", off: "off: it is not evaluated" };

/** Metrics that were added for rules: their present values, or why there are none. */
export function MetricsPart() {
  const queries = useQueryClient();
  const metrics = useMetrics();
  const renew = () => queries.invalidateQueries({ queryKey: METRICS });
  const [asked, setAsked] = useState("");
  const remove = useOneAtATime({
    mutationFn: (name: string) =>
      told(api.DELETE("/api/v1/storage/metrics/{name}", { params: { path: { name } } })),
    onSettled: async (_, refusal) => {
      await renew();
      if (!refusal) setAsked("");
    },
    meta: { done: (name: string) => `The metric ${name} is removed.` },
  });
  const close = () => {
    remove.reset();
    setAsked("");
  };
  if (metrics.isLoading) return <Loading what="Loading the metrics" />;
  if (metrics.error) return <ErrorBox error={metrics.error} />;
  return (
    <>
      <h2>Added metrics</h2>
      {metrics.data?.metrics.length === 0 && (
        <Empty>
          No metric was added. Rules compare what proxies count: GETS_SEC, PUTS_SEC, OPS_SEC and
          COMPRESSIBILITY.
        </Empty>
      )}
      {metrics.data && metrics.data.metrics.length > 0 && (
        <section className="card" aria-label="Added metrics">
          <Table headings={["Metric", "Values", "Age", "Rules", { text: "Remove", hidden: true }]}>
            {metrics.data.metrics.map((metric) => (
              <tr key={metric.name}>
                <Source metric={metric} />
                <td className="long">
                  <Values metric={metric} />
                </td>
                <td>{metric.age_s != null && `${duration(metric.age_s)} ago`}</td>
                <td>{metric.rules.join(", ")}</td>
                <td>
                  <button
                    type="button"
                    className="danger"
                    aria-label={`Remove ${metric.name}`}
                    onClick={() => setAsked(metric.name)}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </Table>
        </section>
      )}
      <AddMetric onAdded={renew} />
      {asked && (
        <RemoveDialog what={asked} removal={remove} onRemove={() => remove.mutate(asked)} onClose={close}>
          <p>Rules can compare it no more. Its program or expression is not kept.</p>
        </RemoveDialog>
      )}
    </>
  );
}

function Source({ metric }: { metric: Metric }) {
  return (
    <td className="long">
      <strong>{metric.name}</strong>
      {metric.text === "" ? (
        <div className="faint">{SOURCES[metric.source]}</div>
      ) : (
        <details>
          <summary>{SOURCES[metric.source]}</summary>
          <pre>{metric.text}</pre>
        </details>
      )}
      <div className="faint">
        {metric.author && `by ${metric.author}, `}
        {moment(metric.created_s)}
      </div>
    </td>
  );
}

function Values({ metric }: { metric: Metric }) {
  const { values, values_count: count, problem, mode } = metric;
  return (
    <>
      {count === 0 && <span className="faint">not known</span>}
      <Places values={values.slice(0, SHOWN)} />
      {count > SHOWN && (
        <details>
          <summary>{count - SHOWN} more</summary>
          <Places values={values.slice(SHOWN)} />
          {count > values.length && <p className="faint">{count - values.length} more are not listed.</p>}
        </details>
      )}
      {problem && (
        <div>
          <span className="badge bad">failed</span> {problem}
        </div>
      )}
      {MODES[mode] && <div className="faint">{MODES[mode]}</div>}
    </>
  );
}

function Places({ values }: { values: Metric["values"] }) {
  return values.map((one) => (
    <div key={placeOf(one)}>
      {placeOf(one)} {number(one.value)}
    </div>
  ));
}
