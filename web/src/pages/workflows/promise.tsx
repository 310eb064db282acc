import { useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../api/client";
import { WholePromise } from "../../components/whole-promise";

/** What is promised of all of it, or what is offered instead. */
export function PromiseCard({ workflow }: { workflow: Schemas["WorkflowView"] }) {
  const queries = useQueryClient();
  return (
    <WholePromise
      promise={workflow.promise}
      open={workflow.ended_at_s === null}
      cancelled={workflow.state === "cancelled"}
      accept={(offer) =>
        told(
          api.POST("/api/v1/workflows/{workflow_id}/accept", {
            params: { path: { workflow_id: workflow.id } },
            body: { offer },
          }),
        )
      }
      onSettled={() => void queries.invalidateQueries({ queryKey: ["workflow", workflow.id] })}
    />
  );
}
