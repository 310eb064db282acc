import { useId } from "react";
import type { Schemas } from "../../../api/client";
import { Control, FieldMessages } from "../../../components/field-errors";
import { FileField } from "../../catalogue/script-file";
import { type Condition, type Draft, type Kind, type Step, stepName } from "./draft";

const CONDITIONS: [Condition, string][] = [
  ["ok", "has succeeded"],
  ["any", "has ended"],
  ["fail", "has not succeeded"],
];

interface StepFieldsProps {
  step: Step;
  number: number;
  draft: Draft;
  endings: string[];
  stored: Schemas["StoredApplicationView"][];
  onChange: (step: Step) => void;
  onRemove: (() => void) | null;
}

/** One step: what it runs, and after which others. */
export function StepFields({ step, number, draft, endings, stored, onChange, onRemove }: StepFieldsProps) {
  const id = useId();
  const change = (changed: Partial<Step>) => onChange({ ...step, ...changed });
  return (
    <Control field={`step ${number}`}>
      <fieldset>
        <legend>
          <strong>
            Step {number}: {stepName(step)}
          </strong>
        </legend>
        <FieldMessages field={`step ${number}`} />
        <div className="field">
          <label htmlFor={`${id}-kind`}>Runs</label>
          <select
            id={`${id}-kind`}
            value={step.kind}
            onChange={(e) => change({ kind: e.target.value as Kind })}
          >
            <option value="script">one of my scripts</option>
            <option value="stored">a stored application</option>
          </select>
        </div>
        {step.kind === "script" ? (
          <ScriptOf id={id} step={step} endings={endings} change={change} />
        ) : (
          <div className="field">
            <label htmlFor={`${id}-stored`}>Application</label>
            <select
              id={`${id}-stored`}
              value={step.stored}
              onChange={(e) => change({ stored: e.target.value })}
            >
              <option value="">choose one</option>
              {stored.map((one) => (
                <option key={storedName(one)} value={storedName(one)}>
                  {one.name}
                  {one.user === null && " (of the tenant)"}
                </option>
              ))}
            </select>
            {stored.length === 0 && (
              <p className="faint">
                None without parameters is stored: <code>zoe app put NAME FILE</code> stores one.
              </p>
            )}
          </div>
        )}
        <Needs step={step} draft={draft} change={change} />
        <div className="row">
          <label>
            Name{" "}
            <input
              value={step.name}
              placeholder={stepName(step)}
              maxLength={63}
              onChange={(e) => change({ name: e.target.value })}
            />
          </label>
          {onRemove && (
            <button type="button" onClick={onRemove} aria-label={`Remove step ${number}`}>
              Remove
            </button>
          )}
        </div>
      </fieldset>
    </Control>
  );
}

export function storedName({ user, name }: Schemas["StoredApplicationView"]): string {
  return `${user === null ? "tenant" : "user"}/${name}`;
}

interface PartProps {
  id: string;
  step: Step;
  endings: string[];
  change: (changed: Partial<Step>) => void;
}

function ScriptOf({ id, step, endings, change }: PartProps) {
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-file`}>Script</label>
        <FileField
          id={`${id}-file`}
          value={step.file}
          endings={endings}
          onChange={(file) => change({ file })}
        />
      </div>
      <div className="row field">
        <label className="wide">
          Arguments{" "}
          <input
            value={step.arguments}
            maxLength={4096}
            onChange={(e) => change({ arguments: e.target.value })}
          />
        </label>
        <label>
          Memory{" "}
          <input
            value={step.memory}
            maxLength={16}
            size={8}
            onChange={(e) => change({ memory: e.target.value })}
          />
        </label>
      </div>
    </>
  );
}

function Needs({ step, draft, change }: Pick<PartProps, "step" | "change"> & { draft: Draft }) {
  const before = draft.steps.slice(
    0,
    draft.steps.findIndex((one) => one.key === step.key),
  );
  if (before.length === 0) return null;
  return (
    <div className="field">
      <span>After</span>
      {before.map((other) => {
        const need = step.needs.find((one) => one.step === other.key);
        const others = step.needs.filter((one) => one.step !== other.key);
        const set = (condition: Condition) => change({ needs: [...others, { step: other.key, condition }] });
        return (
          <div key={other.key} className="row">
            <label>
              <input
                type="checkbox"
                checked={need !== undefined}
                onChange={(e) => (e.target.checked ? set("ok") : change({ needs: others }))}
              />{" "}
              {stepName(other)}
            </label>
            {need && (
              <select
                aria-label={`How ${stepName(other)} must have ended`}
                value={need.condition}
                onChange={(e) => set(e.target.value as Condition)}
              >
                {CONDITIONS.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </div>
        );
      })}
    </div>
  );
}
