import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { Table } from "../../components/table";
import { readInOrder } from "./queue";

type Result = Schemas["DryRunView"];

/** What another policy would do with the present queue, beside the one in force. */
export function DryRun({ result }: { result: Result }) {
  const { present, wanted } = result;
  const ids = [...new Set([...wanted.first, ...wanted.starts])].slice(0, 100);
  const { data } = useQuery({ queryKey: ["dry-run-names", ids], queryFn: () => readInOrder(ids) });
  const names = new Map((data ?? []).map((row) => [row.id, `${row.name} (${row.tenant})`]));
  const places = new Map(present.first.map((id, index) => [id, index]));
  return (
    <section className="card" aria-label="Effect on the present queue" aria-live="polite">
      <h2>Effect on the present queue</h2>
      <Table
        headings={[
          { text: "What", hidden: true },
          { text: "In force", num: true },
          { text: "Tried", num: true },
        ]}
      >
        <tr>
          <td>would start now</td>
          <td className="num">{present.starts_total}</td>
          <td className="num">{wanted.starts_total}</td>
        </tr>
        <tr>
          <td>elastic services that would be stopped</td>
          <td className="num">{present.preempted_total}</td>
          <td className="num">{wanted.preempted_total}</td>
        </tr>
        <tr>
          <td>held up by a window of nodes (without a time limit)</td>
          <td className="num">{heldUp(present)}</td>
          <td className="num">{heldUp(wanted)}</td>
        </tr>
      </Table>
      <h2>The queue with this policy</h2>
      {wanted.first.length === 0 && <p className="faint">No executions wait.</p>}
      <ol>
        {wanted.first.map((id, index) => {
          const before = places.get(id);
          return (
            <li key={id}>
              {names.get(id) ?? id} <span className="faint">{movedText(before, index)}</span>
              {wanted.starts.includes(id) && <span className="badge good">would start</span>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function heldUp(pass: Schemas["PassView"]): string {
  return `${pass.window_ahead_total} (${pass.window_ahead_without_limit})`;
}

function movedText(before: number | undefined, now: number): string {
  if (before === undefined) return "from beyond the first hundred";
  if (before === now) return "";
  return before > now ? `up ${before - now}` : `down ${now - before}`;
}
