import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Run past times of a schedule, each once and with its own time. */
export function Backfill({ name }: { name: string }) {
  const queries = useQueryClient();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [atOnce, setAtOnce] = useState(1);
  const [newestFirst, setNewestFirst] = useState(false);
  const run = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/schedules/{name}/backfill", {
          params: { path: { name } },
          body: { from_s: seconds(from), to_s: seconds(to), at_once: atOnce, newest_first: newestFirst },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["schedules"] }),
  });
  return (
    <form
      className="row"
      aria-label={`Run past times of ${name}`}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <label>
        Past times from{" "}
        <input type="datetime-local" value={from} onChange={(e) => setFrom(e.target.value)} required />
      </label>
      <label>
        to <input type="datetime-local" value={to} onChange={(e) => setTo(e.target.value)} required />
      </label>
      <label>
        At once{" "}
        <input
          type="number"
          min={1}
          max={100}
          value={atOnce}
          onChange={(e) => setAtOnce(e.target.valueAsNumber)}
          required
        />
      </label>
      <label>
        <input type="checkbox" checked={newestFirst} onChange={(e) => setNewestFirst(e.target.checked)} />{" "}
        newest first
      </label>
      <button type="submit" disabled={run.isPending}>
        Run past times
      </button>
      <span className="faint">Times are of the zone {ZONE}, in which this page shows all times.</span>
      <ErrorBox error={run.error} />
      {run.data && <p>{submitted(run.data.runs)}</p>}
    </form>
  );
}

const seconds = (text: string) => new Date(text).getTime() / 1000;

/** How many times were submitted, and why no more. */
export function submitted(runs: { run_id: string | null; message: string }[]): string {
  const made = runs.filter((one) => one.run_id !== null).length;
  const refused = runs.find((one) => one.run_id === null);
  if (made === 0 && refused === undefined) return "All times there have run, or there is none.";
  const rest = refused ? ` The others were not: ${refused.message}` : "";
  return `${made} ${made === 1 ? "time was" : "times were"} submitted.${rest}`;
}
