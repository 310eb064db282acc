import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../../api/client";
import { Empty, ErrorBox, Loading, ProblemBox } from "../../../components/feedback";
import { Table } from "../../../components/table";
import { moment } from "../../../format";
import { AddRule } from "./add-rule";
import { Applying } from "./applying";
import { warningsOf } from "./modes";
import { useControllers, useMetrics } from "./queries";
import { standingOf } from "./standing";

type Rule = Schemas["StorageRuleView"];
const ASK_AGAIN_MS = 5_000;

/** For admins: the object store's rules, who wrote them, and what they did before. */
export function RulesPart() {
  const queries = useQueryClient();
  const controllers = useControllers().data?.controllers ?? [];
  const metrics = useMetrics().data?.metrics ?? [];
  const rules = useQuery({
    queryKey: ["storage-rules"],
    queryFn: () => told(api.GET("/api/v1/storage/rules")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  const removed = useQuery({
    queryKey: ["storage-rules", "removed"],
    queryFn: () => told(api.GET("/api/v1/storage/rules", { params: { query: { removed: true } } })),
    enabled: rules.isSuccess,
  });
  const renew = () => void queries.invalidateQueries({ queryKey: ["storage-rules"] });
  const remove = useMutation({
    mutationFn: (number: number) =>
      told(api.DELETE("/api/v1/storage/rules/{number}", { params: { path: { number } } })),
    onSettled: renew,
  });
  const restore = useMutation({
    mutationFn: ({ rule: text, mode }: Rule) =>
      told(api.POST("/api/v1/storage/rules", { body: { text, dry_run: mode !== "on" } })),
    onSettled: renew,
  });
  if (rules.isLoading) return <Loading what="Loading the rules" />;
  if (rules.error) return <ErrorBox error={rules.error} />;
  return (
    <>
      {warningsOf(controllers).map((text) => (
        <ProblemBox key={text} title={text} />
      ))}
      <ErrorBox error={remove.error ?? restore.error} />
      {rules.data?.rules.length === 0 && (
        <Empty>There is no rule: all objects are stored as they are put.</Empty>
      )}
      {rules.data && rules.data.rules.length > 0 && (
        <div className="card">
          <Table headings={["Rule", "By", "At", "Carried out", { text: "Remove", hidden: true }]} stacked>
            {rules.data.rules.map((rule) => (
              <tr key={rule.id}>
                <RuleCell rule={rule} />
                <td>{rule.author}</td>
                <td>{rule.created_s != null && moment(rule.created_s)}</td>
                <td>
                  {standingOf(rule, controllers, metrics)}
                  {Object.entries(rule.metrics).map(([name, value]) => (
                    <div key={name}>
                      {name} {value.toPrecision(3)}
                    </div>
                  ))}
                </td>
                <td>
                  <button
                    type="button"
                    className="danger"
                    disabled={remove.isPending}
                    aria-label={`Remove rule ${rule.id}`}
                    onClick={() => remove.mutate(rule.id)}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </Table>
          <p className="faint">
            A rule holds for objects that are stored from then on. Those that are stored stay as they are,
            unless a job applies the rules to them.
          </p>
        </div>
      )}
      <AddRule onAdded={renew} />
      <Applying />
      {removed.data && removed.data.rules.length > 0 && (
        <details className="card">
          <summary>Removed rules</summary>
          <Table headings={["Rule", "By", "Removed by", "At", { text: "Restore", hidden: true }]} stacked>
            {removed.data.rules.map((rule) => (
              <tr key={rule.id}>
                <RuleCell rule={rule} />
                <td>{rule.author}</td>
                <td>{rule.removed_by}</td>
                <td>{rule.removed_s != null && moment(rule.removed_s)}</td>
                <td>
                  <button
                    type="button"
                    disabled={restore.isPending}
                    aria-label={`Restore rule ${rule.id}`}
                    onClick={() => restore.mutate(rule)}
                  >
                    Restore
                  </button>
                </td>
              </tr>
            ))}
          </Table>
        </details>
      )}
    </>
  );
}

function RuleCell({ rule }: { rule: Rule }) {
  return (
    <td>
      {rule.id}. <code>{rule.rule}</code>
    </td>
  );
}
