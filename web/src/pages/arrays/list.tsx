import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { StateBadge } from "../../components/state";
import { num, Table } from "../../components/table";
import { moment, number } from "../../format";
import type { Filter } from "../executions/filter";
import { countsText, endedCount } from "./counts";

const LOOK_EVERY_MS = 5000;
const ROWS = 20;

/** The newest arrays of a filter, one row each; nothing while there are none. `refused`: the list beside it says why. */
export function Arrays({ filter, refused }: { filter: Filter; refused: boolean }) {
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
      (filter.state.length === 0 || filter.state.includes(row.state)),
  );
  const problem = refused ? null : error;
  if (rows.length === 0) return <ErrorBox error={problem} />;
  return (
    <section className="card" aria-label="Arrays">
      <h2>Arrays</h2>
      <ErrorBox error={problem} />
      <Table headings={["Name", "State", num("Ended"), "Indices", "User", "Submitted"]}>
        {rows.map((row) => (
          <tr key={row.id}>
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
