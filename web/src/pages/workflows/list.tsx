import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { Table } from "../../components/table";
import { moment } from "../../format";
import { Badge } from "./badge";

const POLL_MS = 5000;

/** The workflows that one sees, newest first. */
export default function WorkflowsPage() {
  const [cursors, setCursors] = useState<string[]>([]);
  const maySubmit = useMay("submit");
  const cursor = cursors.at(-1) ?? null;
  const { data, error } = useQuery({
    queryKey: ["workflows", cursor],
    queryFn: () => told(api.GET("/api/v1/workflows", { params: { query: { cursor, limit: 50 } } })),
    refetchInterval: POLL_MS,
  });
  return (
    <>
      <div className="spread">
        <h1>Workflows</h1>
        {maySubmit && (
          <Link className="button" to="/workflows/new">
            New
          </Link>
        )}
      </div>
      <ErrorBox error={error} />
      {data === undefined && error === null && <Loading />}
      {data?.workflows.length === 0 && (
        <Empty>
          <p>
            No workflows yet. A workflow runs scripts after each other; <code>zoe workflow run FILE</code>{" "}
            submits one, too.
          </p>
          {maySubmit && <Link to="/workflows/new">Make a workflow</Link>}
        </Empty>
      )}
      {data !== undefined && data.workflows.length > 0 && (
        <div className="card">
          <Table headings={["Name", "Id", "User", "State", "Steps", "Submitted"]}>
            {data.workflows.map((one) => (
              <Row key={one.id} one={one} />
            ))}
          </Table>
        </div>
      )}
      <p className="row">
        {cursors.length > 0 && (
          <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
            Newer
          </button>
        )}
        {data?.next_cursor && (
          <button type="button" onClick={() => setCursors([...cursors, data.next_cursor ?? ""])}>
            Older
          </button>
        )}
      </p>
    </>
  );
}

function Row({ one }: { one: Schemas["WorkflowSummary"] }) {
  return (
    <tr>
      <td>
        <Link to={`/workflows/${one.id}`}>{one.name}</Link>
      </td>
      <td>
        <code>{one.id}</code>
      </td>
      <td>{one.user}</td>
      <td>
        <Badge state={one.state} />
      </td>
      <td>
        {one.steps.succeeded ?? 0} of {one.steps_total} succeeded
      </td>
      <td className="time">{moment(one.submitted_at_s)}</td>
    </tr>
  );
}
