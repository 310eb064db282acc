import type { JournalEvent } from "../../api/journal";
import { num, Table } from "../../components/table";
import { allSteps } from "./all-steps";
import type { Execution } from "./types";

/** When the execution and each of its services got how far, as `zoe show --timeline` lists it. */
export function StepsTab({ execution, events }: { execution: Execution; events: JournalEvent[] }) {
  return (
    <section className="card" aria-label="All steps">
      <Table headings={[num("Seconds"), num("Since the step before"), "Step"]}>
        {allSteps(execution, events).map(({ what, afterS, sinceS }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice, and rows are only added
          <tr key={index}>
            <td className="num">{afterS.toFixed(2)}</td>
            <td className="num">{sinceS === null ? "" : `+${sinceS.toFixed(2)}`}</td>
            <td>{what}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
