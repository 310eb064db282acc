import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, asDescription, told } from "../../api/client";
import { useMay, useSession } from "../../api/session";
import { useSubmission } from "../../api/submission";
import { ErrorBox } from "../../components/feedback";
import { Share } from "./sharing";
import type { Execution } from "./types";

export function Actions({ execution }: { execution: Execution }) {
  const may = useMay("submit");
  const { user, tenant } = useSession();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/executions/{execution_id}/cancel", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
  });
  const again = useSubmission(() => ({
    application: asDescription(execution.description),
    name: execution.name,
    priority: execution.priority,
  }));
  if (!may) return null;
  const over =
    execution.state === "succeeded" || execution.state === "failed" || execution.state === "cancelled";
  return (
    <div>
      <div className="row">
        {!over && execution.access === "control" && (
          <button
            type="button"
            className="danger"
            disabled={
              cancel.isPending || (execution.state === "stopping" && execution.outcome === "cancelled")
            }
            onClick={() => cancel.mutate()}
          >
            Cancel
          </button>
        )}
        <button type="button" disabled={again.busy} onClick={again.submit}>
          Run again
        </button>
        <Link className="button" to={`/new?from=${execution.id}`}>
          Clone and edit
        </Link>
        {user === execution.user && tenant === execution.tenant && <Share executionId={execution.id} />}
      </div>
      <ErrorBox error={cancel.error ?? again.error} />
    </div>
  );
}
