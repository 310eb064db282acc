import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { moment, number } from "../../format";
import { type Filter, matchesState } from "../executions/filter";
import { countsText, endedCount } from "./counts";

const LOOK_EVERY_MS = 5000;
const ROWS = 20;

interface ArraysProps {
  filter: Filter;
  refused: boolean;
  /** By id. */
  selected: ReadonlyMap<string, string>;
  onSelect: (id: string, selected: boolean, name: string) => void;
  selectable: boolean;
}

/** The newest arrays of a filter, one row each; nothing while there are none. `refused`: the list beside it says why. */
export function Arrays({ filter, refused, selected, onSelect, selectable }: ArraysProps) {
  const { user, all_tenants = false } = filter;
  const { data, error } = useQuery({
    queryKey: ["arrays", user ?? "", all_tenants],
    queryFn: () =>
      told(
        api.GET("/api/v1/arrays", {
          params: { query: { limit: ROWS, all_tenants, ...(user === undefined ? {} : { user }) } },
        }),
      ),
    refetchInterval: LOOK_EVERY_MS,
  });
  const name = filter.name?.toLowerCase() ?? "";
  const rows = (data?.arrays ?? []).filter(
    (row) =>
      row.name.toLowerCase().includes(name) &&
      matchesState(filter.state, row.state, row.reason?.code === "held"),
  );
  const problem = refused ? null : error;
  if (rows.length === 0) return <ErrorBox error={problem} />;
  return (
    <section className="card" aria-label="Arrays">
      <h2>Arrays</h2>
      <ErrorBox error={problem} />
      <Table
        headings={[
          { text: "Chosen", hidden: true },
          "Name",
          "State",
          num("Ended"),
          "Indices",
          "User",
          "Submitted",
        ]}
      >
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              <input
                type="checkbox"
                aria-label={`choose ${row.name}`}
                checked={selected.has(row.id)}
                disabled={!selectable || row.ended_at_s !== null}
                onChange={(e) => onSelect(row.id, e.target.checked, row.name)}
              />
            </td>
            <td>
              <Link to={`/arrays/${row.id}`}>{row.name}</Link>
            </td>
            <td>
              <StateBadge state={row.state} />
            </td>
            <td className="num">
              {number(endedCount(row.counts))} of {number(row.size)}
            </td>
            <td>{row.reason?.sentence ?? countsText(row.counts, row.active_states)}</td>
            <td>{row.user}</td>
            <td>{moment(row.submitted_at_s)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
