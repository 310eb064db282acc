import type { ReactNode } from "react";
import { isOfReading, useOutage } from "../api/outage";
import { asRefused, type Diagnostic, passes } from "../api/problem";
import { pageHint } from "../hints";
import { Place } from "./field-errors";
import { WithCommands } from "./hint";

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
export function ProblemBox({ title, text, hint: given = "", errors = [], children }: ProblemProps) {
  const hint = pageHint(given);
  return (
    <div className="problem" role="alert" tabIndex={-1}>
      <p>
        <strong>
          <WithCommands text={title} />
        </strong>
      </p>
      {text && !errors.some((one) => one.message === text) && <p>{text}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.pointer}${one.code}${one.message}`}>
              <Place pointer={one.pointer} /> <WithCommands text={one.message} />
              <DetailHint hint={one.hint} />
            </li>
          ))}
        </ul>
      )}
      {hint && !errors.some((one) => one.hint === given) && (
        <p className="faint">
          <WithCommands text={hint} />
        </p>
      )}
      {children}
    </div>
  );
}

function DetailHint({ hint }: { hint: string }) {
  const text = pageHint(hint);
  if (text === "") return null;
  return (
    <span className="faint">
      {" "}
      (<WithCommands text={text} />)
    </span>
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
