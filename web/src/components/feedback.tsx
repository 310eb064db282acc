import type { ReactNode } from "react";
import { isOfReading, useOutage } from "../api/outage";
import { asRefused, type Diagnostic, passes } from "../api/problem";
import { fieldLabel, type Labels } from "./field-label";

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <p className="loading" role="status">
      {what} …
    </p>
  );
}

interface ProblemProps {
  title: string;
  text?: string;
  hint?: string;
  errors?: Diagnostic[];
  labels?: Labels;
  children?: ReactNode;
}

/** A refusal in words, with every finding. */
export function ProblemBox({ title, text, hint, errors = [], labels = {}, children }: ProblemProps) {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {text && !errors.some((one) => one.message === text) && <p>{text}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.pointer}${one.code}${one.message}`}>
              <Place pointer={one.pointer} labels={labels} /> {one.message}
              {one.hint && <span className="faint"> ({one.hint})</span>}
            </li>
          ))}
        </ul>
      )}
      {hint && !errors.some((one) => one.hint === hint) && <p className="faint">{hint}</p>}
      {children}
    </div>
  );
}

/** Where a finding is: the field of the form, by its label, or the place in the document. */
function Place({ pointer, labels }: { pointer: string; labels: Labels }) {
  const label = fieldLabel(pointer, labels);
  if (label !== null) return <strong>{label}:</strong>;
  return pointer === "" ? null : <code>{pointer}</code>;
}

/**
 * With the labels of the form's fields, findings are told by these. What could not be read because Zoe is away is told at
 * the top of the page, once.
 */
export function ErrorBox({ error, labels = {} }: { error: unknown; labels?: Labels }) {
  const away = useOutage();
  if (!error || (away && passes(error) && isOfReading(error))) return null;
  const refused = asRefused(error);
  return <ProblemBox title={refused.message} hint={refused.hint} errors={refused.errors} labels={labels} />;
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty">{children}</div>;
}
