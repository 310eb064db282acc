import type { Schemas } from "../../../api/client";

type Rule = Schemas["StorageRuleView"];
const SHOWN = 12;

/** The number of a rule, its text, which may be long, and the versions of uploaded filters that it runs. */
export function RuleCell({ rule }: { rule: Rule }) {
  return (
    <td className="long">
      {rule.id}. <code>{rule.rule}</code>
      {rule.modules.map((one) => (
        <div key={`${one.tenant} ${one.name}`} className="faint">
          {versionOf(one)}
        </div>
      ))}
    </td>
  );
}

export function versionOf(one: Rule["modules"][number]): string {
  const older = one.newest ? "" : ": a newer version was uploaded";
  return `runs ${one.name} ${one.sha256.slice(0, SHOWN)}${one.tenant ? ` of ${one.tenant}` : ""}${older}`;
}
