import { useEffect, useRef, useState } from "react";
import { useMay } from "../../api/session";
import { DEADLINES, type Filter, STATES } from "./filter";

const TYPING_MS = 300;

export function FilterBar({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const operates = useMay("operate");
  return (
    <div className="row filters" role="search" aria-label="Filter executions">
      <Typed label="Name" value={filter.name ?? ""} onChange={(name) => onChange({ ...filter, name })} />
      <Typed label="User" value={filter.user ?? ""} onChange={(user) => onChange({ ...filter, user })} />
      <details className="menu">
        <summary>States{filter.state.length > 0 ? `: ${filter.state.join(", ")}` : ": all"}</summary>
        <div className="menu-body">
          {STATES.map((state) => (
            <label key={state}>
              <input
                type="checkbox"
                checked={filter.state.includes(state)}
                onChange={(e) =>
                  onChange({
                    ...filter,
                    state: STATES.filter((one) =>
                      one === state ? e.target.checked : filter.state.includes(one),
                    ),
                  })
                }
              />{" "}
              {state}
            </label>
          ))}
        </div>
      </details>
      <label>
        Deadline{" "}
        <select
          value={filter.deadline ?? ""}
          onChange={(e) => onChange(withDeadline(filter, e.target.value))}
        >
          <option value="">any or none</option>
          {Object.entries(DEADLINES).map(([status, text]) => (
            <option key={status} value={status}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {operates && (
        <label>
          <input
            type="checkbox"
            checked={filter.all_tenants ?? false}
            onChange={(e) => onChange({ ...filter, all_tenants: e.target.checked })}
          />{" "}
          all tenants
        </label>
      )}
    </div>
  );
}

function withDeadline({ deadline: _, ...others }: Filter, chosen: string): Filter {
  return chosen === "" ? others : { ...others, deadline: chosen as keyof typeof DEADLINES };
}

interface TypedProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A text that is told once its user stops typing. */
function Typed({ label, value, onChange }: TypedProps) {
  const [text, setText] = useState(value);
  // The page is drawn anew with each event of a live list, which must not put off what was typed.
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => latest.current(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <label>
      {label} <input type="search" value={text} onChange={(e) => setText(e.target.value)} size={14} />
    </label>
  );
}
