import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { ErrorBox } from "../../../components/feedback";
import { useKept } from "../../../components/kept";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { num, Table } from "../../../components/table";
import { bytes, moment, rate } from "../../../format";
import { type Wanted, wantedOf } from "./wanted";

type Job = Schemas["StorageRewriteView"];
const ASK_AGAIN_MS = 2_000;
const KEY = ["storage-rewrites"];
const NOTHING: Wanted = { target: "", undo: false, dryRun: true, megabytes: "" };

/** Jobs that apply today's rules to objects that are stored already: begun, followed, cancelled, resumed. */
export function Applying() {
  const queries = useQueryClient();
  const jobs = useQuery({
    queryKey: KEY,
    queryFn: () => told(api.GET("/api/v1/storage/rewrites")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  const renew = () => queries.invalidateQueries({ queryKey: KEY });
  const running = jobs.data?.rewrites.find((one) => one.state === "running");
  const cancel = useOneAtATime({
    mutationFn: (number: number) =>
      told(api.DELETE("/api/v1/storage/rewrites/{number}", { params: { path: { number } } })),
    onSettled: renew,
  });
  const resume = useOneAtATime({
    mutationFn: (number: number) =>
      told(api.POST("/api/v1/storage/rewrites/{number}/resume", { params: { path: { number } } })),
    onSettled: renew,
  });
  return (
    <section className="card stacked" aria-label="Stored objects">
      <h2>Apply the rules to stored objects</h2>
      <Begin running={running?.id} onBegun={renew} />
      <ErrorBox error={cancel.error ?? resume.error ?? jobs.error} />
      {jobs.data && jobs.data.rewrites.length > 0 && (
        <Table
          headings={[
            "Job",
            "Objects of",
            "State",
            "Looked at",
            num("Changed"),
            num("Bytes"),
            num("Failed"),
            { text: "Cancel or resume", hidden: true },
          ]}
        >
          {jobs.data.rewrites.map((job) => (
            <JobRow
              key={job.id}
              job={job}
              busy={cancel.isPending || resume.isPending}
              onCancel={() => cancel.mutate(job.id)}
              onResume={() => resume.mutate(job.id)}
            />
          ))}
        </Table>
      )}
    </section>
  );
}

interface JobRowProps {
  job: Job;
  busy: boolean;
  onCancel: () => void;
  onResume: () => void;
}

function JobRow({ job, busy, onCancel, onResume }: JobRowProps) {
  const of = Math.max(job.expected, job.looked);
  const how = `${job.plain ? "without filters" : "by the rules"}${job.dry_run ? ", dry run" : ""}`;
  return (
    <tr>
      <td>
        {job.id}, {moment(job.created_s)}
        {job.author && ` by ${job.author}`}
      </td>
      <td className="long">
        {job.tenant}
        {job.container && `/${job.container}`}: {how}, at {rate(job.bytes_per_s)}
      </td>
      <td className="long">
        {job.state.replace("_", " ")}
        {job.waits && (
          <div className="faint">{job.state === "running" ? `waits: ${job.waits}` : job.waits}</div>
        )}
        {job.sentence && <div className="faint">{job.sentence}</div>}
      </td>
      <td>
        <progress max={Math.max(of, 1)} value={job.looked} aria-label={`Progress of job ${job.id}`} />{" "}
        {job.looked} of {of}
      </td>
      <td className="num">{job.changed}</td>
      <td className="num">{bytes(job.changed_bytes)}</td>
      <td className="num">{job.failed}</td>
      <td>
        {job.state === "running" && (
          <button
            type="button"
            className="danger"
            disabled={busy}
            aria-label={`Cancel job ${job.id}`}
            onClick={onCancel}
          >
            Cancel
          </button>
        )}
        {(job.state === "cancelled" || job.state === "gave_up") && (
          <button type="button" disabled={busy} aria-label={`Resume job ${job.id}`} onClick={onResume}>
            Resume
          </button>
        )}
      </td>
    </tr>
  );
}

interface BeginProps {
  /** The job that runs. */
  running: number | undefined;
  onBegun: () => Promise<void>;
}

function Begin({ running, onBegun }: BeginProps) {
  const [fields, setFields] = useKept("stored-objects", NOTHING);
  const put = (change: Partial<Wanted>) => setFields({ ...fields, ...change });
  const wanted =
    running === undefined ? wantedOf(fields) : `Job ${running} is running, and only one runs at a time.`;
  const begin = useOneAtATime({
    mutationFn: (body: Schemas["StorageRewriteRequest"]) =>
      told(api.POST("/api/v1/storage/rewrites", { body })),
    onSettled: onBegun,
  });
  return (
    <form
      className="stacked"
      aria-label="Begin a job"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (typeof wanted !== "string") begin.mutate(wanted);
      }}
    >
      <label>
        Objects of (tenant or tenant/container)
        <input value={fields.target} onChange={(e) => put({ target: e.target.value })} />
      </label>
      <label>
        MB per second at most (default: the controller's setting)
        <input
          inputMode="decimal"
          value={fields.megabytes}
          onChange={(e) => put({ megabytes: e.target.value })}
        />
      </label>
      <label>
        <input type="checkbox" checked={fields.dryRun} onChange={(e) => put({ dryRun: e.target.checked })} />
        Only count what would change
      </label>
      <label>
        <input type="checkbox" checked={fields.undo} onChange={(e) => put({ undo: e.target.checked })} />
        Undo: store them as they were put, without filters
      </label>
      <div className="row">
        <button type="submit" disabled={begin.isPending || typeof wanted === "string"}>
          {fields.dryRun ? "Count" : "Apply"}
        </button>
        {typeof wanted === "string" && <span className="faint">{wanted}</span>}
      </div>
      <ErrorBox error={begin.error} />
    </form>
  );
}
