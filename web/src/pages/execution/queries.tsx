import { num, Table } from "../../components/table";
import { bytes } from "../../format";
import type { Execution } from "./types";

/** What each of its Spark queries read of the object store, the newest first. */
export function Queries({ execution }: { execution: Execution }) {
  const queries = execution.queries ?? [];
  if (queries.length === 0) return null;
  return (
    <section className="card" aria-label="Queries">
      <h2>Queries</h2>
      <Table headings={["Query", num("Read"), num("Of"), "Read plainly because of"]}>
        {queries.toReversed().map((one) => (
          <tr key={`${one.number}/${one.at_s}`}>
            <td>{one.number}</td>
            <td className="num">{bytes(one.read_bytes)}</td>
            <td className="num">{bytes(one.object_bytes)}</td>
            <td className="long">{(one.plainly ?? []).join("; ")}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
