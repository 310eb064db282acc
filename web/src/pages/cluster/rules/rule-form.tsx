import { useKept } from "../../../components/kept";
import { CONDITIONS, FILTERS, KINDS, NO_RULE, type RuleFields, ruleText } from "./rule-text";

/** Fields from which the text of a rule follows. */
export function RuleForm({ onText }: { onText: (text: string) => void }) {
  const [fields, setFields] = useKept<RuleFields>("rule-fields", NO_RULE);
  const put = (change: Partial<RuleFields>) => {
    const changed = { ...fields, ...change };
    setFields(changed);
    onText(ruleText(changed));
  };
  return (
    <div className="stacked">
      <label>
        Objects of
        <select value={fields.kind} onChange={(e) => put({ kind: e.target.value as RuleFields["kind"] })}>
          {Object.entries(KINDS).map(([kind, text]) => (
            <option key={kind} value={kind}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Name (tenant, tenant/container or tenant/container/object)
        <input value={fields.target} onChange={(e) => put({ target: e.target.value })} />
      </label>
      <label>
        When
        <select
          value={fields.condition}
          onChange={(e) => put({ condition: e.target.value as RuleFields["condition"] })}
        >
          {Object.entries(CONDITIONS).map(([condition, text]) => (
            <option key={condition} value={condition}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {fields.condition !== "" && (
        <label>
          Value
          <input value={fields.value} onChange={(e) => put({ value: e.target.value })} />
        </label>
      )}
      <fieldset>
        <legend>They are stored</legend>
        {Object.entries(FILTERS).map(([name, text]) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={fields.filters.includes(name)}
              onChange={(e) => put({ filters: chosen(fields.filters, name, e.target.checked) })}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <label>
        <input
          type="checkbox"
          checked={fields.mandatory}
          onChange={(e) => put({ mandatory: e.target.checked })}
        />
        No other rule displaces it
      </label>
    </div>
  );
}

/** The filters in the order in which the form has them; one kind of compression. */
function chosen(before: string[], name: string, on: boolean): string[] {
  const kind = name.split(" ")[0];
  const kept = before.filter((one) => one.split(" ")[0] !== kind);
  const after = on ? [...kept, name] : kept;
  return Object.keys(FILTERS).filter((one) => after.includes(one));
}
