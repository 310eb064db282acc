import type { Schemas } from "../../../api/client";

/** The number of a rule and its text, which may be long. */
export function RuleCell({ rule }: { rule: Schemas["StorageRuleView"] }) {
  return (
    <td className="long">
      {rule.id}. <code>{rule.rule}</code>
    </td>
  );
}
