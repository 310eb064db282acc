import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";

const LABELS = { indices: "Indices" };

/** Cancel some indices of an array, also those that have not begun. */
export function CancelIndices({ arrayId }: { arrayId: string }) {
  const queries = useQueryClient();
  const [indices, setIndices] = useState("");
  const cancel = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/arrays/{array_id}/cancel", {
          params: { path: { array_id: arrayId }, query: { indices: indices.trim() } },
        }),
      ),
    onSuccess: () => setIndices(""),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["array", arrayId] });
      void queries.invalidateQueries({ queryKey: ["indices", arrayId] });
    },
    meta: { done: () => `The indices ${indices.trim()} are cancelled.` },
  });
  return (
    <FieldErrors error={cancel.error} labels={LABELS}>
      <form
        className="row"
        aria-label="Cancel indices"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (window.confirm(`Cancel the indices ${indices.trim()}?`)) cancel.mutate();
        }}
      >
        <Labelled field="indices" label="Indices">
          <input
            value={indices}
            onChange={(e) => setIndices(e.target.value)}
            placeholder="3-5,9"
            maxLength={1000}
            required
          />
        </Labelled>
        <button type="submit" className="danger" disabled={cancel.isPending}>
          Cancel these indices
        </button>
        <ErrorBox error={cancel.error} />
      </form>
    </FieldErrors>
  );
}
