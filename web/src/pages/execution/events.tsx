import type { JournalEvent } from "../../api/journal";
import { Empty } from "../../components/feedback";
import { Table } from "../../components/table";
import { moment } from "../../format";

/** The journal of one execution, newest first. */
export function EventsTab({ events }: { events: JournalEvent[] }) {
  if (events.length === 0) return <Empty>Nothing has happened yet.</Empty>;
  return (
    <div className="card">
      <Table headings={["When", "What", "Details"]}>
        {[...events].reverse().map((event) => (
          <tr key={event.id}>
            <td className="num">{moment(event.at_s)}</td>
            <td>{event.kind.replaceAll("_", " ")}</td>
            <td>
              <code>{details(event)}</code>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

const TEXT_MAX = 300;

function details(event: JournalEvent): string {
  const text = JSON.stringify(event.data);
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
}
