import { useEffect, useId, useState } from "react";
import { Control, FieldMessages, Labelled } from "../../components/field-errors";
import type { Labels } from "../../components/field-label";
import { parseJson } from "../../components/json";
import { BACKFILLS, ORDERS } from "./orders";
import type { Policy } from "./policy-api";

interface FormProps {
  policy: Policy;
  onChange: (policy: Policy) => void;
  /** Whether all that is typed can be read. */
  onSound: (sound: boolean) => void;
}

type Choices = { [K in keyof Policy]?: Policy[K][] };

const CHOICES: Choices = {
  order: ORDERS,
  backfill: BACKFILLS,
  preemption: ["none", "elastic"],
  tenants: ["none", "drf"],
};

const NUMBERS: [keyof Policy, string][] = [
  ["ageing_s", "Ageing, seconds (0: none)"],
  ["interactive_share", "Share of interactive applications, 0 to 1"],
  ["backfill_depth_max", "Candidates of backfill"],
  ["usage_half_life_s", "Half-life of past use, seconds"],
  ["fair_share_age_weight", "Weight of age in fair share"],
  ["elastic_backoff_s", "Pause before elastic services come back, seconds"],
  ["default_time_limit_s", "Time limit of executions without one, seconds (0: none)"],
  ["idle_after_s", "End interactive applications unused for, seconds (0: never)"],
  ["idle_warning_s", "Warn this long before such an end, seconds"],
  ["idle_cores_milli", "Minimum CPU that counts as activity, millicores (0: CPU does not count)"],
  [
    "promise_share",
    "Share of the cores and of the store's bandwidth for promises, 0 to 1 (0: none are made)",
  ],
  ["promise_offer_s", "Time to accept an offer of a promise, seconds"],
  ["storage_patience_s", "Time allowed for the store to grant bandwidth, seconds"],
];

const OBJECTS: [keyof Policy, string][] = [
  ["tenant_limits", "Limits of tenants"],
  ["user_limits", "Limits of each user, by tenant"],
  ["priorities_max", "Highest priority of users, by tenant"],
  ["tenant_shares", "Shares of tenants"],
  ["filters", "Filters of nodes"],
  ["weighers", "Weighers of nodes"],
];

const CHOICE_LABELS: Record<string, string> = {
  order: "Queue order",
  backfill: "Backfill",
  preemption: "Preemption",
  tenants: "Between tenants",
};

/** What the form calls the settings, for what the API finds wrong with them. */
export const POLICY_LABELS: Labels = {
  ...CHOICE_LABELS,
  ...Object.fromEntries(NUMBERS),
  ...Object.fromEntries(OBJECTS),
};

/** The fields of a policy; docs/reference/policy.md says what each one does. */
export function PolicyForm({ policy, onChange, onSound }: FormProps) {
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => onSound(wrong.size === 0), [wrong, onSound]);
  const put = (name: keyof Policy, value: unknown) => onChange({ ...policy, [name]: value } as Policy);
  const tell = (name: string, sound: boolean) =>
    setWrong((before) => {
      const after = new Set(before);
      if (sound) after.delete(name);
      else after.add(name);
      return after;
    });
  return (
    <div className="stacked">
      {Object.entries(CHOICES).map(([name, choices]) => (
        <Labelled key={name} field={name} label={CHOICE_LABELS[name]}>
          <select
            value={String(policy[name as keyof Policy])}
            onChange={(e) => put(name as keyof Policy, e.target.value)}
          >
            {choices.map((choice) => (
              <option key={String(choice)}>{String(choice)}</option>
            ))}
          </select>
        </Labelled>
      ))}
      {NUMBERS.map(([name, label]) => (
        <Labelled key={name} field={name} label={label}>
          <input
            type="number"
            step="any"
            min={0}
            value={Number(policy[name])}
            onChange={(e) => {
              tell(name, !Number.isNaN(e.target.valueAsNumber));
              if (!Number.isNaN(e.target.valueAsNumber)) put(name, e.target.valueAsNumber);
            }}
          />
        </Labelled>
      ))}
      {OBJECTS.map(([name, label]) => (
        <JsonField
          key={name}
          field={name}
          label={`${label}, as JSON`}
          value={policy[name]}
          onChange={(value) => put(name, value)}
          onSound={(sound) => tell(name, sound)}
        />
      ))}
    </div>
  );
}

interface JsonFieldProps {
  field: string;
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
  onSound: (sound: boolean) => void;
}

function JsonField({ field, label, value, onChange, onSound }: JsonFieldProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 1));
  const [problem, setProblem] = useState("");
  const id = useId();
  const change = (next: string) => {
    setText(next);
    try {
      onChange(parseJson(next));
      setProblem("");
      onSound(true);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      onSound(false);
    }
  };
  return (
    <>
      <label>
        {label}
        <Control field={field}>
          <textarea
            className="mono"
            rows={3}
            value={text}
            aria-invalid={problem !== "" || undefined}
            aria-describedby={problem === "" ? undefined : id}
            onChange={(e) => change(e.target.value)}
          />
        </Control>
        {problem && (
          <span id={id} className="field-error">
            This cannot be used: {problem}
          </span>
        )}
      </label>
      <FieldMessages field={field} />
    </>
  );
}
