import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox, Loading } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { Plot } from "../../components/plot";
import { Table } from "../../components/table";
import { moment, number } from "../../format";
import { BACKFILLS, ORDERS } from "./orders";

type Result = Schemas["ReplayView"];

const AS_IT_WAS = "as it was";
const LABELS = {
  from_s: "Since",
  order: "Queue order",
  backfill: "Backfill",
  add_nodes: "Add a node like",
};
const HOUR_MS = 3_600_000;

/** What happened here, replayed under another policy or with one more node. */
export function ReplayTab() {
  const [from, setFrom] = useState(() => local(new Date(Date.now() - HOUR_MS)));
  const [order, setOrder] = useState("");
  const [backfill, setBackfill] = useState("");
  const [node, setNode] = useState("");
  const { data: nodes } = useQuery({ queryKey: ["nodes"], queryFn: () => told(api.GET("/api/v1/nodes")) });
  const replay = useMutation({
    mutationFn: () => {
      const policy: Record<string, string> = {};
      if (order) policy.order = order;
      if (backfill) policy.backfill = backfill;
      const from_s = new Date(from).getTime() / 1000;
      return told(api.POST("/api/v1/replays", { body: { from_s, policy, add_nodes: node ? [node] : [] } }));
    },
  });
  return (
    <FieldErrors error={replay.error} labels={LABELS}>
      <form
        className="card row"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          replay.mutate();
        }}
      >
        <Labelled field="from_s" label="Since">
          <input
            type="datetime-local"
            step={1}
            value={from}
            onChange={(e) => setFrom(e.target.value)}
            required
          />
        </Labelled>
        <Choice field="order" label="Queue order" value={order} options={ORDERS} onChange={setOrder} />
        <Choice
          field="backfill"
          label="Backfill"
          value={backfill}
          options={BACKFILLS}
          onChange={setBackfill}
        />
        <Choice
          field="add_nodes"
          label="Add a node like"
          value={node}
          options={nodes?.nodes.map((one) => one.name) ?? []}
          onChange={setNode}
          none="none"
        />
        <button type="submit" className="primary" disabled={replay.isPending}>
          Replay
        </button>
      </form>
      <ErrorBox error={replay.error} />
      {replay.isPending && <Loading what="Replaying the journal" />}
      {replay.data && (
        <>
          <Outcome result={replay.data} />
          <Curves series={replay.data.series} />
        </>
      )}
    </FieldErrors>
  );
}

interface ChoiceProps {
  field: string;
  label: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
  none?: string;
}

function Choice({ field, label, value, options, onChange, none = AS_IT_WAS }: ChoiceProps) {
  return (
    <Labelled field={field} label={label}>
      <select value={value} onChange={(e) => onChange(e.target.value)}>
        <option value="">{none}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </Labelled>
  );
}

function Outcome({ result }: { result: Result }) {
  const sides = Object.keys(result.figures);
  const names = Object.keys(result.figures[sides[0] ?? ""] ?? {});
  return (
    <section className="card" aria-label="Result">
      <h2>
        {moment(result.from_s)} to {moment(result.to_s)}: {result.ticks} ticks, {result.decisions} decisions,{" "}
        {result.reproduced} reproduced
      </h2>
      {result.first_difference && <p>First difference: {result.first_difference}</p>}
      <Table headings={["Figure", ...sides]}>
        {names.map((name) => {
          const most = Math.max(...sides.map((side) => result.figures[side]?.[name] ?? 0), 1e-9);
          return (
            <tr key={name}>
              <td>{name.replaceAll("_", " ")}</td>
              {sides.map((side) => {
                const value = result.figures[side]?.[name] ?? 0;
                return (
                  <td key={side}>
                    <div className="bar" aria-hidden="true">
                      <span className="core" style={{ width: `${(100 * value) / most}%` }} />
                    </div>
                    <span className="num">{number(value)}</span>
                  </td>
                );
              })}
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

function Curves({ series }: { series: Result["series"] }) {
  const times = [...new Set(Object.values(series).flatMap((points) => points.map((one) => one.at_s)))].sort(
    (a, b) => a - b,
  );
  const lines = (what: "waiting" | "cores") =>
    Object.entries(series).map(([side, points]) => {
      const at = new Map(points.map((one) => [one.at_s, one[what]]));
      return { label: side, values: times.map((time) => at.get(time) ?? null), dashed: side !== AS_IT_WAS };
    });
  return (
    <>
      <Plot label="Executions that wait" times={times} series={lines("waiting")} format={number} />
      <Plot label="Cores reserved" times={times} series={lines("cores")} format={number} />
    </>
  );
}

function local(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
