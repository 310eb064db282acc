import type { ReactNode } from "react";
import { isOfReading, useOutage } from "../api/outage";
import { asRefused, type Diagnostic, passes } from "../api/problem";
import { Place } from "./field-errors";

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
  children?: ReactNode;
}

/** A refusal in words, with every finding. */
export function ProblemBox({ title, text, hint, errors = [], children }: ProblemProps) {
  return (
    <div className="problem" role="alert" tabIndex={-1}>
      <p>
        <strong>{title}</strong>
      </p>
      {text && !errors.some((one) => one.message === text) && <p>{text}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.pointer}${one.code}${one.message}`}>
              <Place pointer={one.pointer} /> {one.message}
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

/**
 * Inside of `FieldErrors`, findings lead to the fields that they name. What could not be read because Zoe is away is
 * told at the top of the page, once.
 */
export function ErrorBox({ error }: { error: unknown }) {
  const away = useOutage();
  if (!error || (away && passes(error) && isOfReading(error))) return null;
  const refused = asRefused(error);
  return <ProblemBox title={refused.message} hint={refused.hint} errors={refused.errors} />;
}

/** A page that cannot be shown, with the heading that every page has. */
export function NoPage({ title, error }: { title: string; error: unknown }) {
  return (
    <>
      <h1>{title}</h1>
      <ErrorBox error={error} />
    </>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty">{children}</div>;
}
