import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { ErrorBox, Loading } from "../../components/feedback";
import { Table } from "../../components/table";
import { bytes, duration, moment } from "../../format";

/** What differs from the execution before of the same name, or from another one, once it is asked for. */
export function Differences({ executionId }: { executionId: string }) {
  const [open, setOpen] = useState(false);
  const [other, setOther] = useState("");
  const { data, error } = useQuery({
    queryKey: ["diff", executionId, other],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/diff", {
          params: { path: { execution_id: executionId }, query: other === "" ? {} : { from: other } },
        }),
      ),
    enabled: open,
  });
  return (
    <details className="card" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Compare with the one before of this name</summary>
      <label>
        Or with the execution{" "}
        <input
          defaultValue=""
          placeholder="id"
          onBlur={(e) => setOther(e.target.value.trim())}
          onKeyDown={(e) => e.key === "Enter" && setOther(e.currentTarget.value.trim())}
        />
      </label>
      <ErrorBox error={error} />
      {open && data === undefined && error === null && <Loading />}
      {data?.before === null && <p className="faint">There is none before it.</p>}
      {data?.before != null && (
        <>
          <p>
            Compared with <Link to={`/executions/${data.before}`}>{data.before}</Link>
            {data.hidden && "; values of environment variables and texts of files are not compared"}
          </p>
          {data.entries.length === 0 && <p className="faint">Nothing differs.</p>}
          {data.entries.length > 0 && (
            <Table headings={["Part", "Field", "Before", "After"]}>
              {data.entries.map((one) => (
                <tr key={`${one.part}/${one.path}`}>
                  <td>{one.part}</td>
                  <td>
                    <code>{one.path}</code>
                  </td>
                  <td>{shown(one.before, one.path)}</td>
                  <td>{shown(one.after, one.path)}</td>
                </tr>
              ))}
            </Table>
          )}
        </>
      )}
    </details>
  );
}

/** A value with its unit, which the end of the field's name tells. */
function shown(value: unknown, path: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") {
    if (path.endsWith("_at_s")) return moment(value);
    if (path.endsWith("_s")) return duration(value);
    if (path.endsWith("_bytes")) return bytes(value);
  }
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
