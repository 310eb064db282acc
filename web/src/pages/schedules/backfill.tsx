import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { useOneAtATime } from "../../components/one-at-a-time";

const LABELS = { from_s: "Past times from", to_s: "to", at_once: "At once" };
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Run past times of a schedule, each once and with its own time. */
export function Backfill({ name }: { name: string }) {
  const queries = useQueryClient();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [atOnce, setAtOnce] = useState(1);
  const [newestFirst, setNewestFirst] = useState(false);
  const [failed, setFailed] = useState(false);
  const run = useOneAtATime({
    mutationFn: () =>
      told(
        api.POST("/api/v1/schedules/{name}/backfill", {
          params: { path: { name } },
          body: {
            from_s: seconds(from),
            to_s: seconds(to),
            at_once: atOnce,
            newest_first: newestFirst,
            failed,
          },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["schedules"] }),
  });
  return (
    <FieldErrors error={run.error} labels={LABELS}>
      <form
        className="row"
        aria-label={`Run past times of ${name}`}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          run.mutate();
        }}
      >
        <Labelled field="from_s" label="Past times from">
          <input type="datetime-local" value={from} onChange={(e) => setFrom(e.target.value)} required />
        </Labelled>
        <Labelled field="to_s" label="to">
          <input type="datetime-local" value={to} onChange={(e) => setTo(e.target.value)} required />
        </Labelled>
        <Labelled field="at_once" label="At once">
          <input
            type="number"
            min={1}
            max={100}
            value={atOnce}
            onChange={(e) => setAtOnce(e.target.valueAsNumber)}
            required
          />
        </Labelled>
        <label>
          <input type="checkbox" checked={newestFirst} onChange={(e) => setNewestFirst(e.target.checked)} />{" "}
          newest first
        </label>
        <label>
          <input type="checkbox" checked={failed} onChange={(e) => setFailed(e.target.checked)} /> failed ones
          again
        </label>
        <button type="submit" disabled={run.isPending}>
          Run past times
        </button>
        <span className="faint">Times are of the zone {ZONE}, in which this page shows all times.</span>
        <ErrorBox error={run.error} />
        {run.data && <p>{submitted(run.data.runs, run.data.passed)}</p>}
      </form>
    </FieldErrors>
  );
}

const seconds = (text: string) => new Date(text).getTime() / 1000;

/** How many times were submitted, why no more, and which had run before. */
export function submitted(
  runs: { run_id: string | null; message: string }[],
  passed: Record<string, number>,
): string {
  const states = Object.entries(passed).map(([state, number]) => `${number} ${state}`);
  const before = states.length ? ` Times that have run before: ${states.sort().join(", ")}.` : "";
  return `${made(runs)}${before}`;
}

function made(runs: { run_id: string | null; message: string }[]): string {
  const number = runs.filter((one) => one.run_id !== null).length;
  const refused = runs.find((one) => one.run_id === null);
  if (number === 0 && refused === undefined) return "No time was submitted.";
  const rest = refused ? ` The others were not: ${refused.message}` : "";
  return `${number} ${number === 1 ? "time was" : "times were"} submitted.${rest}`;
}
