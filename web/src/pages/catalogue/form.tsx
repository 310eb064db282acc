import Form from "@rjsf/core";
import type {
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  RJSFSchema,
  UiSchema,
  WidgetProps,
} from "@rjsf/utils";
import { useEffect, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { Messages, useFieldErrors } from "../../components/field-errors";
import { bytes } from "../../format";
import { ScriptFile } from "./script-file";
import type { Values } from "./settings";
import { validator } from "./validator";

/** Begins the ids of the fields. */
export const FORM = "root";

interface Extension {
  widget?: string;
  step?: number | null;
}

type Field = RJSFSchema & { "x-zoe"?: Extension };

interface EntryFormProps {
  entry: Schemas["CatalogueEntryView"];
  values: Values;
  onChange: (values: Values) => void;
}

/** The form of a catalogue entry, made from its JSON Schema; `x-zoe` says which fields are sliders of what step. */
export function EntryForm({ entry, values, onChange }: EntryFormProps) {
  const schema = entry.form as RJSFSchema;
  const uiSchema = useMemo(() => uiOf(schema), [schema]);
  if (Object.keys(schema.properties ?? {}).length === 0)
    return <p className="faint">It has no settings of its own.</p>;
  return (
    <Form
      tagName="div"
      schema={schema}
      idPrefix={FORM}
      uiSchema={uiSchema}
      validator={validator}
      formData={values}
      liveValidate
      showErrorList={false}
      onChange={({ formData }) => onChange((formData ?? {}) as Values)}
      templates={{ FieldTemplate, ObjectFieldTemplate }}
      formContext={{ script: entry.script }}
      widgets={{ slider: Slider, memory: Memory, script: ScriptFile }}
    />
  );
}

function uiOf(schema: RJSFSchema): UiSchema {
  const ui: UiSchema = { "ui:submitButtonOptions": { norender: true } };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = property as Field;
    const bounded = field.minimum !== undefined && field.maximum !== undefined;
    const isNumber = field.type === "integer" || field.type === "number";
    const widget = field["x-zoe"]?.widget;
    if (widget === "memory") ui[name] = { "ui:widget": "memory" };
    else if (widget === "file") ui[name] = { "ui:widget": "script" };
    else if (isNumber && bounded) ui[name] = { "ui:widget": "slider" };
    // Else an emptied field would be left out, and get its default without a word.
    else if (field.type === "string") ui[name] = { "ui:emptyValue": "" };
  }
  return ui;
}

function FieldTemplate(props: FieldTemplateProps) {
  return props.schema.type === "object" ? props.children : <OneField {...props} />;
}

function OneField({ id, label, description, rawErrors = [], children }: FieldTemplateProps) {
  const refused = useFieldErrors(id.slice(FORM.length + 1));
  const messages = [...new Set([...rawErrors, ...refused.messages])];
  const wrong = messages.length > 0;
  const about = `${id}__description`; // the id of what rjsf makes of the description
  // The form's own controls name texts that are not there in `aria-describedby`, and leave `aria-invalid` out.
  useEffect(() => {
    const control = document.getElementById(id);
    control?.setAttribute("aria-invalid", String(wrong));
    control?.setAttribute("aria-describedby", wrong ? `${about} ${refused.id}` : about);
  });
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="faint">{description}</div>
      {children}
      <Messages id={refused.id} messages={messages} />
    </div>
  );
}

function ObjectFieldTemplate({ properties }: ObjectFieldTemplateProps) {
  return properties.map((property) => <div key={property.name}>{property.content}</div>);
}

function stepOf(schema: RJSFSchema): number {
  return (schema as Field)["x-zoe"]?.step ?? 1;
}

function Slider({ id, value, schema, onChange, label, disabled, readonly }: WidgetProps) {
  const shared = {
    min: schema.minimum,
    max: schema.maximum,
    step: stepOf(schema),
    disabled: disabled || readonly,
  };
  return (
    <div className="slider">
      <input
        type="range"
        aria-label={`${label}, as a slider`}
        value={Number(value ?? schema.minimum)}
        onChange={(e) => onChange(e.target.valueAsNumber)}
        {...shared}
      />
      <input
        id={id}
        type="number"
        value={value ?? ""}
        onChange={(e) => onChange(Number.isNaN(e.target.valueAsNumber) ? undefined : e.target.valueAsNumber)}
        {...shared}
      />
    </div>
  );
}

function Memory({ id, value, schema, onChange, disabled, readonly }: WidgetProps) {
  const size = Number(value ?? schema.default ?? schema.minimum ?? 0);
  return (
    <div className="slider">
      <input
        id={id}
        type="range"
        min={schema.minimum}
        max={schema.maximum}
        step={stepOf(schema)}
        value={size}
        aria-valuetext={bytes(size)}
        disabled={disabled || readonly}
        onChange={(e) => onChange(e.target.valueAsNumber)}
      />
      <output htmlFor={id} className="num">
        {bytes(size)}
      </output>
    </div>
  );
}
