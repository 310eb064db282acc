import type { ReactNode } from "react";
import { asRefused, type Diagnostic } from "../api/problem";

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
    <div className="problem" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {text && <p>{text}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.pointer}${one.code}${one.message}`}>
              {one.pointer && <code>{one.pointer}</code>} {one.message}
              {one.hint && <span className="faint"> ({one.hint})</span>}
            </li>
          ))}
        </ul>
      )}
      {hint && <p className="faint">{hint}</p>}
      {children}
    </div>
  );
}

export function ErrorBox({ error }: { error: unknown }) {
  if (!error) return null;
  const refused = asRefused(error);
  return <ProblemBox title={refused.message} hint={refused.hint} errors={refused.errors} />;
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty">{children}</div>;
}
