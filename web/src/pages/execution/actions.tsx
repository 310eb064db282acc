import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, asDescription, told } from "../../api/client";
import { useMay, useSession } from "../../api/session";
import { useSubmission } from "../../api/submission";
import { CancelDialog } from "../../components/cancel-dialog";
import { ErrorBox } from "../../components/feedback";
import { runnable } from "../../promise";
import { hiddenNames } from "../catalogue/hidden";
import { mainWay, openPort, wayText } from "./ports";
import { Share } from "./sharing";
import type { Execution } from "./types";

/** What can be done with an execution: first what one came for, then the rest. */
export function Actions({ execution }: { execution: Execution }) {
  const may = useMay("submit");
  const operates = useMay("operate");
  const { user, tenant } = useSession();
  const again = useSubmission(() => ({
    application: asDescription(runnable(execution.description)),
    name: execution.name,
    priority: execution.priority,
  }));
  const owns = user === execution.user && tenant === execution.tenant;
  // Without the values that only its owner sees it would be another program: the form says which ones.
  const lacksValues = !owns && !operates && hiddenNames(execution.description).length > 0;
  return (
    <div>
      <div className="row">
        <Primary execution={execution} />
        {may && !isOver(execution) && execution.access === "control" && <Cancel execution={execution} />}
        {may && execution.access === "control" && waits(execution) && <Hold execution={execution} />}
        {may && (
          <>
            {lacksValues ? (
              <Link className="button" to={`/clone/${execution.id}`}>
                Run again
              </Link>
            ) : (
              <button type="button" disabled={again.busy} onClick={again.submit}>
                Run again
              </button>
            )}
            <Link className="button" to={`/clone/${execution.id}`}>
              Clone and edit
            </Link>
          </>
        )}
        {may && owns && <Share executionId={execution.id} />}
      </div>
      <ErrorBox error={again.error} />
    </div>
  );
}

function waits({ state }: Execution): boolean {
  return state === "submitted" || state === "queued";
}

function isOver({ state }: Execution): boolean {
  return state === "succeeded" || state === "failed" || state === "cancelled";
}

/** Into the application where it has a way in, else to what it prints. */
function Primary({ execution }: { execution: Execution }) {
  const may = useMay("submit") && execution.access !== "look";
  const open = useMutation({
    mutationFn: ({ service, port }: { service: string; port: string }) =>
      openPort(execution.id, service, port),
  });
  const way = mainWay(execution);
  if (way === null && waits(execution)) return null;
  if (way === null || isOver(execution) || !may)
    return (
      <Link className="button primary" to={`/executions/${execution.id}/logs`}>
        Read the output
      </Link>
    );
  const { service, port } = way;
  return (
    <>
      <button
        type="button"
        className="primary"
        disabled={service === null}
        title={service === null ? "It opens when its service is ready." : undefined}
        onClick={() => service && open.mutate({ service: service.id, port })}
      >
        {wayText(way)}
      </button>
      <ErrorBox error={open.error} />
    </>
  );
}

function Cancel({ execution }: { execution: Execution }) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/executions/{execution_id}/cancel", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    onSuccess: () => setAsking(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
    meta: { done: () => `${execution.name} is being cancelled.` },
  });
  const cancelled = execution.state === "stopping" && execution.outcome === "cancelled";
  return (
    <>
      <button type="button" className="danger" disabled={cancelled} onClick={() => setAsking(true)}>
        Cancel
      </button>
      {asking && (
        <CancelDialog
          names={[execution.name]}
          busy={cancel.isPending}
          error={cancel.error}
          onCancel={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Keeps it out of the queue, or lets it in again. */
function Hold({ execution }: { execution: Execution }) {
  const queries = useQueryClient();
  const held = execution.conditions?.held != null;
  const params = { path: { execution_id: execution.id } };
  const change = useMutation({
    mutationFn: () =>
      told(
        held
          ? api.POST("/api/v1/executions/{execution_id}/release", { params })
          : api.POST("/api/v1/executions/{execution_id}/hold", { params }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
    meta: { done: () => `It is ${held ? "released" : "held"}.` },
  });
  return (
    <>
      <button type="button" disabled={change.isPending} onClick={() => change.mutate()}>
        {held ? "Release" : "Hold"}
      </button>
      <ErrorBox error={change.error} />
    </>
  );
}
