/** Errors of a form, each beside the field that it names, and a way to the field from the summary above the button. */

import {
  cloneElement,
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useId,
  useMemo,
} from "react";
import { asRefused, type Diagnostic } from "../api/problem";
import { fieldLabel, fieldPlace, type Labels, messagesByField, plainPlace } from "./field-label";

interface Found {
  prefix: string;
  labels: Labels;
  messages: ReadonlyMap<string, string[]>;
}

const FoundContext = createContext<Found>({ prefix: "", labels: {}, messages: new Map() });

interface FieldErrorsProps {
  /** What was refused, if anything was; several: their findings together. */
  error: unknown;
  labels: Labels;
  /** Begins the ids of messages; one that is unique on the page, if none is given. */
  prefix?: string;
  children: ReactNode;
}

/** The form whose fields show what `error` says about them. */
export function FieldErrors({ error, labels, prefix, children }: FieldErrorsProps) {
  const unique = useId();
  const found = useMemo(() => {
    const refusals = (Array.isArray(error) ? error : [error]).filter(Boolean);
    const errors: Diagnostic[] = refusals.flatMap((one) => asRefused(one).errors);
    return { prefix: prefix ?? unique, labels, messages: messagesByField(errors, labels) };
  }, [error, labels, prefix, unique]);
  return <FoundContext value={found}>{children}</FoundContext>;
}

/** What is wrong with a field: its messages, and the attributes that tie the field to them. */
export function useFieldErrors(field: string) {
  const { prefix, messages } = useContext(FoundContext);
  const found = messages.get(field) ?? [];
  const id = messageId(prefix, field);
  const attributes: ControlProps = found.length > 0 ? { "aria-invalid": true, "aria-describedby": id } : {};
  return { id, messages: found, attributes };
}

/** Whether something is wrong with one of these fields. */
export function useAnyWrong(fields: readonly string[]): boolean {
  const { messages } = useContext(FoundContext);
  return fields.some((field) => messages.has(field));
}

/** As forms that are made from a schema name the messages of their fields. */
function messageId(prefix: string, field: string): string {
  return `${prefix}_${field}__error`;
}

/** What is wrong with a field, below it. */
export function FieldMessages({ field }: { field: string }) {
  const { id, messages } = useFieldErrors(field);
  return <Messages id={id} messages={messages} />;
}

export function Messages({ id, messages }: { id: string; messages: string[] }) {
  if (messages.length === 0) return null;
  return (
    <span id={id} className="field-error">
      {messages.join("; ")}
    </span>
  );
}

interface ControlProps {
  "aria-invalid"?: boolean;
  "aria-describedby"?: string;
}

/** A control that is tied to the messages of its field, which stand elsewhere. */
export function Control({ field, children }: { field: string; children: ReactElement<ControlProps> }) {
  const { attributes } = useFieldErrors(field);
  // A group is described only: its role is neither valid nor invalid.
  const { "aria-invalid": invalid, ...described } = attributes;
  const valid = children.type === "fieldset" || !invalid ? {} : { "aria-invalid": true };
  return cloneElement(children, { ...described, ...valid });
}

interface LabelledProps {
  field: string;
  label: ReactNode;
  children: ReactElement<ControlProps>;
}

/** A control inside its label, with the messages of its field after both. */
export function Labelled({ field, label, children }: LabelledProps) {
  return (
    <>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child */}
      <label>
        {label} <Control field={field}>{children}</Control>
      </label>
      <FieldMessages field={field} />
    </>
  );
}

/** Where a finding is: the field of the form, as a link to it, or the place in the document. */
export function Place({ pointer }: { pointer: string }) {
  const { prefix, labels } = useContext(FoundContext);
  const place = fieldPlace(pointer, labels);
  if (place === null) return plainPlace(pointer) && <code>{plainPlace(pointer)}:</code>;
  return (
    <button type="button" className="link" onClick={() => showField(messageId(prefix, place.field))}>
      <strong>{fieldLabel(pointer, labels)}:</strong>
    </button>
  );
}

const FOCUSABLE = "input, select, textarea, button";

/** Brings a control, or the first in an element, into sight, and the focus to it. */
export function showControl(element: HTMLElement | null): void {
  const control = element?.matches(FOCUSABLE) ? element : element?.querySelector<HTMLElement>(FOCUSABLE);
  element?.closest("details")?.setAttribute("open", "");
  element?.scrollIntoView({ block: "center" });
  control?.focus({ preventScroll: true });
}

/** Brings the field with that message into sight, and the focus to it. */
function showField(message: string): void {
  const tied = document.querySelector<HTMLElement>(`[aria-describedby~="${CSS.escape(message)}"]`);
  showControl(tied);
}
