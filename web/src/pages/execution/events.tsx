import { useMemo } from "react";
import type { JournalEvent } from "../../api/journal";
import { Empty } from "../../components/feedback";
import { Table } from "../../components/table";
import { moment } from "../../format";
import { eventDetails } from "./event-details";
import type { Execution } from "./types";

const TEXT_MAX = 300;

/** The journal of one execution, newest first. */
export function EventsTab({ execution, events }: { execution: Execution; events: JournalEvent[] }) {
  const names = useMemo(() => new Map(execution.services.map((one) => [one.id, one.name])), [execution]);
  if (events.length === 0) return <Empty>Nothing has happened yet.</Empty>;
  return (
    <div className="card">
      <Table headings={["When", "What", "Details"]}>
        {[...events].reverse().map((event) => (
          <tr key={event.id}>
            <td className="time">{moment(event.at_s)}</td>
            <td>{event.kind.replaceAll("_", " ")}</td>
            <td>{shortened(eventDetails(event.data, names))}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

function shortened(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
}
