import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { ErrorBox, ProblemBox } from "../../../components/feedback";
import { useKept } from "../../../components/kept";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { type MetricFields, NO_METRIC, programOf, wantedMetric } from "./wanted-metric";

/** Adds a metric: an expression that a Prometheus is asked, or a program in Python. */
export function AddMetric({ onAdded }: { onAdded: () => Promise<void> }) {
  const [fields, setFields] = useKept("metric", NO_METRIC);
  const put = (change: Partial<MetricFields>) => setFields({ ...fields, ...change });
  const wanted = wantedMetric(fields);
  const add = useOneAtATime({
    mutationFn: ({ name, body }: { name: string; body: Schemas["StorageMetricRequest"] }) =>
      told(api.POST("/api/v1/storage/metrics/{name}", { params: { path: { name } }, body })),
    onSuccess: () => setFields({ ...NO_METRIC, kind: fields.kind }),
    onSettled: onAdded,
  });
  return (
    <form
      className="card stacked"
      aria-label="Add a metric"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (typeof wanted !== "string") add.mutate(wanted);
      }}
    >
      <h2>Add a metric</h2>
      <label>
        Name in rules
        <input value={fields.name} maxLength={64} onChange={(e) => put({ name: e.target.value })} />
      </label>
      <label>
        Measured by
        <select value={fields.kind} onChange={(e) => put({ kind: e.target.value as MetricFields["kind"] })}>
          <option value="expression">an expression that a Prometheus is asked</option>
          <option value="program">a program in Python</option>
        </select>
      </label>
      {fields.kind === "expression" ? (
        <Expression fields={fields} put={put} />
      ) : (
        <Program fields={fields} put={put} />
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={add.isPending || typeof wanted === "string"}>
          Add
        </button>
        {typeof wanted === "string" && <span className="faint">{wanted}</span>}
      </div>
      <ErrorBox error={add.error} />
    </form>
  );
}

interface PartProps {
  fields: MetricFields;
  put: (change: Partial<MetricFields>) => void;
}

function Expression({ fields, put }: PartProps) {
  return (
    <>
      <label>
        Expression
        <textarea
          rows={2}
          value={fields.expression}
          maxLength={4096}
          placeholder="sum by (tenant) (rate(zoe_object_store_bytes_total[1m]))"
          onChange={(e) => put({ expression: e.target.value })}
        />
      </label>
      <label>
        Label of tenants
        <input value={fields.tenantLabel} onChange={(e) => put({ tenantLabel: e.target.value })} />
      </label>
      <label>
        Label of containers
        <input value={fields.containerLabel} onChange={(e) => put({ containerLabel: e.target.value })} />
      </label>
    </>
  );
}

function Program({ fields, put }: PartProps) {
  const [fault, setFault] = useState("");
  const read = (file: File | undefined) => {
    if (!file) return;
    programOf(file).then(
      (program) => {
        setFault("");
        put({ program });
      },
      (error: Error) => setFault(error.message),
    );
  };
  return (
    <>
      <label>
        File with the program
        <input
          type="file"
          accept=".py,text/x-python"
          onChange={(event) => {
            read(event.target.files?.[0]);
            event.target.value = "";
          }}
        />
      </label>
      {fault && <ProblemBox title={fault} />}
      <label>
        Program with a class Metric
        <textarea
          rows={8}
          value={fields.program}
          spellCheck={false}
          onChange={(e) => put({ program: e.target.value })}
        />
      </label>
    </>
  );
}
