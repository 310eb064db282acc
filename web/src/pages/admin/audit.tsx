import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../../api/client";
import { Empty, ErrorBox } from "../../components/feedback";
import { useSettled } from "../../components/settled";
import { num, Table } from "../../components/table";
import { moment } from "../../format";

const PAGE = 100;
const TYPING_MS = 300;

/** Who asked for which change, newest first. */
export function AuditTab() {
  const [user, setUser] = useState("");
  const wanted = useSettled(user.trim(), TYPING_MS);
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["audit", wanted],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam }) => {
      const query = {
        limit: PAGE,
        ...(wanted ? { user: wanted } : {}),
        ...(pageParam === null ? {} : { before: pageParam }),
      };
      return told(api.GET("/api/v1/admin/audit", { params: { query } }));
    },
    getNextPageParam: (last) => last.next_before,
  });
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <p>
        <label>
          User <input type="search" value={user} onChange={(e) => setUser(e.target.value)} />
        </label>
      </p>
      <ErrorBox error={error} />
      {data && entries.length === 0 && <Empty>No entry{wanted ? ` of ${wanted}` : ""}.</Empty>}
      <div className="card">
        <Table headings={["When", "User", "Tenant", "What", "Where", "By", num("Answer")]}>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td className="time">{moment(entry.at_s)}</td>
              <td>{entry.user}</td>
              <td>{entry.tenant}</td>
              <td>{entry.action.replaceAll("_", " ")}</td>
              <td className="long">
                <code>{entry.target}</code>
              </td>
              <td>{entry.by}</td>
              <td className="num">{entry.status ?? "not recorded"}</td>
            </tr>
          ))}
        </Table>
      </div>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Earlier entries
        </button>
      )}
    </>
  );
}
