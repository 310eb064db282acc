import type { ReactNode } from "react";
import { Dialog } from "../../../components/dialog";
import { ErrorBox } from "../../../components/feedback";

interface RemoveDialogProps {
  /** What is removed, such as "rule 7". */
  what: string;
  removal: { isPending: boolean; error: unknown };
  onRemove: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something is removed: the row that follows comes under the pointer, and a second click met that. */
export function RemoveDialog({ what, removal, onRemove, onClose, children }: RemoveDialogProps) {
  return (
    <Dialog title={`Remove ${what}?`} onClose={onClose}>
      {children}
      <ErrorBox error={removal.error} />
      <div className="row">
        <button type="button" className="danger" disabled={removal.isPending} onClick={onRemove}>
          Remove {what}
        </button>
        <button type="button" onClick={onClose}>
          Leave it as it is
        </button>
      </div>
    </Dialog>
  );
}
