import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../../api/client";
import { ErrorBox } from "../../../components/feedback";
import { useLongList } from "../../../components/long-list";
import { ListFilter, ListMore } from "../../../components/long-list-parts";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { Table } from "../../../components/table";
import { moment } from "../../../format";
import { RuleCell } from "./rule-cell";

type Rule = Schemas["StorageRuleView"];

/** Rules that were removed, by whom, and a button that adds one again unless the same rule is in force. */
export function RemovedRules({ inForce }: { inForce: Rule[] }) {
  const queries = useQueryClient();
  const removed = useQuery({
    queryKey: ["storage-rules", "removed"],
    queryFn: () => told(api.GET("/api/v1/storage/rules", { params: { query: { removed: true } } })),
  });
  const list = useLongList(removed.data?.rules ?? [], (rule) => `${rule.id}. ${rule.rule}`);
  const restore = useOneAtATime({
    mutationFn: ({ id: number }: Rule) =>
      told(api.POST("/api/v1/storage/rules/{number}/restore", { params: { path: { number } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["storage-rules"] }),
    meta: { done: ({ id }: Rule) => `Rule ${id} is in force again.` },
  });
  if (list.total === 0) return null;
  const texts = new Set(inForce.map((one) => one.rule));
  return (
    <details className="card" aria-label="Removed rules">
      <summary>Removed rules</summary>
      <ErrorBox error={restore.error} />
      <ListFilter list={list} label="Filter removed rules" />
      <Table headings={["Rule", "By", "Removed by", "At", { text: "Restore", hidden: true }]}>
        {list.shown.map((rule) => (
          <tr key={rule.id}>
            <RuleCell rule={rule} />
            <td className="long">{rule.author}</td>
            <td className="long">{rule.removed_by}</td>
            <td>{rule.removed_s != null && moment(rule.removed_s)}</td>
            <td>
              {texts.has(rule.rule) ? (
                <span className="faint">in force</span>
              ) : (
                <button
                  type="button"
                  disabled={restore.isPending}
                  aria-label={`Restore rule ${rule.id}`}
                  onClick={() => restore.mutate(rule)}
                >
                  Restore
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <ListMore list={list} />
    </details>
  );
}
