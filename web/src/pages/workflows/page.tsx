import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay, useSession } from "../../api/session";
import { submittedWorkflow, useSending } from "../../api/submission";
import { ErrorBox, Loading, NoPage } from "../../components/feedback";
import { useOneAtATime } from "../../components/one-at-a-time";
import { Table } from "../../components/table";
import { moment } from "../../format";
import { formAddress } from "../catalogue/remembered";
import { Badge } from "./badge";
import { Graph } from "./graph";
import { entriesText, pathOf, type Step } from "./layout";
import { PromiseCard } from "./promise";

const POLL_MS = 2000;

/** One workflow: its graph, its steps with links to their executions, and what may be done to it. */
export default function WorkflowPage() {
  const { workflowId = "" } = useParams();
  const path = { workflow_id: workflowId };
  const { data, error } = useQuery({
    queryKey: ["workflow", workflowId],
    queryFn: () => told(api.GET("/api/v1/workflows/{workflow_id}", { params: { path } })),
    refetchInterval: (query) => (query.state.data?.ended_at_s ? false : POLL_MS),
  });
  if (data === undefined) return error ? <NoPage title="Workflow" error={error} /> : <Loading />;
  return (
    <>
      <div className="lead">
        <h1>{data.name}</h1>
        <p className="row">
          <Badge state={data.state} />
          <span>
            {data.steps.succeeded ?? 0} of {data.steps_total} steps succeeded; submitted{" "}
            {moment(data.submitted_at_s)}
            {data.run > 1 && `, run ${data.run}`}
          </span>
        </p>
      </div>
      <ErrorBox error={error} />
      <Actions workflow={data} />
      <PromiseCard workflow={data} />
      <section className="card" aria-label="Graph">
        <h2>Graph</h2>
        <Graph steps={data.graph} />
      </section>
      <section className="card" aria-label="Steps">
        <h2>Steps</h2>
        <Table headings={["Step", "State", "Execution", "Runs after", "Message"]}>
          {data.graph.map((step, index) => (
            <StepRow key={step.name} step={step} first={data.graph[index - 1]?.step !== step.step} />
          ))}
        </Table>
      </section>
      {Object.keys(data.parameters).length > 0 && (
        <section className="card" aria-label="Parameters">
          <h2>Parameters</h2>
          <Table headings={["Name", "Value"]}>
            {Object.entries(data.parameters).map(([name, value]) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td>{String(value)}</td>
              </tr>
            ))}
          </Table>
        </section>
      )}
    </>
  );
}

function StepRow({ step, first }: { step: Step; first: boolean }) {
  return (
    <tr id={first ? `step-${step.step}` : undefined}>
      <td>
        {step.name}
        {Object.entries(step.for_each).map(([name, source]) => (
          <span className="faint" key={name}>
            {" "}
            for each {name} of {source}
          </span>
        ))}
        {Object.entries(step.values).map(([name, value]) => (
          <span className="faint" key={name}>
            {" "}
            {name}={String(value)}
          </span>
        ))}
      </td>
      <td>
        <Badge state={step.state} />
        {step.entries && <span className="faint"> {entriesText(step.entries)}</span>}
      </td>
      <td>
        <Link to={pathOf(step)}>{step.execution_id}</Link>
      </td>
      <td>{step.after.length > 4 ? `${step.after.length} others` : step.after.join(", ")}</td>
      <td>{step.message}</td>
    </tr>
  );
}

function Actions({ workflow }: { workflow: Schemas["WorkflowView"] }) {
  const queries = useQueryClient();
  const session = useSession();
  const maySubmit = useMay("submit");
  const params = { params: { path: { workflow_id: workflow.id } } };
  const onSuccess = (found: Schemas["WorkflowView"]) =>
    queries.setQueryData(["workflow", workflow.id], found);
  const cancel = useMutation({
    mutationFn: () => told(api.POST("/api/v1/workflows/{workflow_id}/cancel", params)),
    onSuccess,
    meta: { done: () => "Its steps are being cancelled." },
  });
  const resume = useOneAtATime({
    mutationFn: () => told(api.POST("/api/v1/workflows/{workflow_id}/resume", params)),
    onSuccess,
    meta: { done: () => "It goes on." },
  });
  const again = useSending((keyOf) =>
    submittedWorkflow({ document: workflow.document, parameters: workflow.parameters }, keyOf),
  );
  const ended = workflow.ended_at_s !== null;
  const mine = workflow.user === session.user && workflow.tenant === session.tenant;
  if (!maySubmit) return null;
  return (
    <>
      <ErrorBox error={cancel.error ?? resume.error ?? again.error} />
      <p className="row">
        {!ended && (
          <button
            type="button"
            className="danger"
            disabled={cancel.isPending}
            onClick={() => {
              if (window.confirm(`Cancel all steps of ${workflow.name} that have not ended?`))
                cancel.mutate();
            }}
          >
            Cancel
          </button>
        )}
        {ended && mine && workflow.state !== "succeeded" && (
          <button type="button" disabled={resume.isPending} onClick={() => resume.mutate()}>
            Resume
          </button>
        )}
        {Object.keys(workflow.document).length > 0 && (
          <>
            <button type="button" disabled={again.busy} onClick={again.submit}>
              Run again
            </button>
            <Link
              className="button"
              to={formAddress(workflow.id) ?? "/workflows/new"}
              state={formAddress(workflow.id) ? undefined : { document: workflow.document }}
            >
              Clone and edit
            </Link>
          </>
        )}
      </p>
    </>
  );
}
