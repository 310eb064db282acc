import { Dialog } from "./dialog";
import { ErrorBox } from "./feedback";

const NAMES_MAX = 10;

interface CancelDialogProps {
  names: string[];
  noun?: string;
  /** What several are called. */
  several?: string;
  busy: boolean;
  error?: unknown;
  onCancel: () => void;
  onClose: () => void;
}

/** Asks once, for one execution or for many. */
export function CancelDialog({
  names,
  noun = "execution",
  several = "executions",
  busy,
  error = null,
  onCancel,
  onClose,
}: CancelDialogProps) {
  const [first = ""] = names;
  const many = names.length > 1;
  return (
    <Dialog title={many ? `Cancel ${names.length} ${several}?` : `Cancel ${first}?`} onClose={onClose}>
      {many && (
        <ul>
          {names.slice(0, NAMES_MAX).map((name, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may be equal, and the list does not change
            <li key={index}>{name}</li>
          ))}
          {names.length > NAMES_MAX && <li>and {names.length - NAMES_MAX} more</li>}
        </ul>
      )}
      <p>
        {many ? "Their services are" : "Its services are"} stopped for good. Files in the workspace stay; what
        is in memory or in a scratch directory is lost.
      </p>
      <ErrorBox error={error} />
      <div className="row">
        <button type="button" className="danger" disabled={busy} onClick={onCancel}>
          {many ? `Cancel ${names.length} ${several}` : `Cancel the ${noun}`}
        </button>
        <button type="button" onClick={onClose}>
          {many ? "Keep them" : "Keep it"}
        </button>
      </div>
    </Dialog>
  );
}
