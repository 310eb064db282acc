import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { Empty } from "../../../components/feedback";
import { useLongList } from "../../../components/long-list";
import { ListFilter, ListMore } from "../../../components/long-list-parts";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { Table } from "../../../components/table";
import { moment } from "../../../format";
import { useControllers, useMetrics } from "./queries";
import { RemoveDialog } from "./remove-dialog";
import { RuleCell } from "./rule-cell";
import { standingOf } from "./standing";

type Rule = Schemas["StorageRuleView"];
const RULES = ["storage-rules"];

/** The rules in force, by whom, whether they are carried out; and each one's removal, which asks first. */
export function RuleList({ rules }: { rules: Rule[] }) {
  const queries = useQueryClient();
  const list = useLongList(rules, (rule) => `${rule.id}. ${rule.rule} ${rule.author ?? ""}`);
  const [asked, setAsked] = useState<Rule | null>(null);
  const remove = useOneAtATime({
    mutationFn: ({ id: number }: Rule) =>
      told(api.DELETE("/api/v1/storage/rules/{number}", { params: { path: { number } } })),
    onSettled: async (_, refusal) => {
      await queries.invalidateQueries({ queryKey: RULES });
      if (!refusal) setAsked(null);
    },
    meta: { done: ({ id }: Rule) => `Rule ${id} is removed.` },
  });
  const close = () => {
    remove.reset();
    setAsked(null);
  };
  return (
    <section className="card" aria-label="Rules in force">
      <h2>Rules in force</h2>
      {rules.length === 0 && <Empty>There is no rule: all objects are stored as they are put.</Empty>}
      <ListFilter list={list} label="Filter rules" />
      {rules.length > 0 && (
        <>
          <RuleTable rules={list.shown} onRemove={setAsked} />
          <ListMore list={list} />
          <p className="faint">
            A rule holds for objects that are stored from then on. Those that are stored stay as they are,
            unless a job applies the rules to them.
          </p>
        </>
      )}
      {asked && (
        <RemoveDialog
          what={`rule ${asked.id}`}
          removal={remove}
          onRemove={() => remove.mutate(asked)}
          onClose={close}
        >
          <p>
            <code className="long">{asked.rule}</code>
          </p>
          <p>Objects that were stored by it stay as they are, and are read as before.</p>
          {(asked.modules ?? [])
            .filter((one) => one.only_here)
            .map((one) => (
              <p key={`${one.tenant} ${one.name}`}>
                Version {one.sha256.slice(0, 12)} of {one.name} is removed, since only this rule runs it.
              </p>
            ))}
        </RemoveDialog>
      )}
    </section>
  );
}

interface RuleTableProps {
  rules: Rule[];
  onRemove: (rule: Rule) => void;
}

function RuleTable({ rules, onRemove }: RuleTableProps) {
  const controllers = useControllers().data?.controllers ?? [];
  const metrics = useMetrics().data?.metrics ?? [];
  return (
    <Table headings={["Rule", "By", "At", "Carried out", { text: "Remove", hidden: true }]}>
      {rules.map((rule) => (
        <tr key={rule.id}>
          <RuleCell rule={rule} />
          <td className="long">{rule.author}</td>
          <td>{rule.created_s != null && moment(rule.created_s)}</td>
          <td className="long">
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
              aria-label={`Remove rule ${rule.id}`}
              onClick={() => onRemove(rule)}
            >
              Remove
            </button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
