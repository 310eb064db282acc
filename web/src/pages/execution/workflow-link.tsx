import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";

/** Leads to the workflow whose step an execution is; nothing if it is none's, or while that is not known. */
export function WorkflowLink({ executionId }: { executionId: string }) {
  const { data } = useQuery({
    queryKey: ["workflow-of", executionId],
    queryFn: () =>
      told(
        api.GET("/api/v1/workflows/of/{execution_id}", { params: { path: { execution_id: executionId } } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data?.workflow_id) return null;
  return (
    <p>
      A step of the workflow <Link to={`/workflows/${data.workflow_id}`}>{data.workflow_id}</Link>
    </p>
  );
}
