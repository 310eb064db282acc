import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../../api/client";
import { useMay } from "../../api/session";
import { ErrorBox, Loading } from "../../components/feedback";
import { FieldErrors } from "../../components/field-errors";
import { DryRun } from "./dry-run";
import type { Policy } from "./policy-api";
import { POLICY_LABELS, PolicyForm } from "./policy-form";
import { PolicyHistory } from "./policy-history-card";

/** The policy in force, tried on the present queue before it is changed. */
export function PolicyTab() {
  const { data, error, refetch } = useQuery({
    queryKey: ["policy"],
    queryFn: () => told(api.GET("/api/v1/policy")),
    // What is being edited is not changed under its editor's hands.
    refetchOnWindowFocus: false,
    placeholderData: (before) => before,
  });
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Reading the policy" />;
  return <Editor key={data.version} present={data} onChanged={() => void refetch()} />;
}

/** The button is at the end of a long form, and the result beside its beginning. */
function intoView(element: HTMLElement | null) {
  element?.scrollIntoView({ block: "nearest" });
}

function Editor({ present, onChanged }: { present: Policy; onChanged: () => void }) {
  const administers = useMay("admin");
  const [wanted, setWanted] = useState(present);
  const [sound, setSound] = useState(true);
  const trial = useMutation({ mutationFn: () => told(api.POST("/api/v1/policy/dry-run", { body: wanted })) });
  const put = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/policy", {
          params: { header: { "if-match": `"${present.version}"` } },
          body: wanted,
        }),
      ),
    onSuccess: onChanged,
    meta: { done: () => "The policy is in force." },
  });
  const changed = Object.keys(wanted).filter((name) => {
    const key = name as keyof Policy;
    return JSON.stringify(wanted[key]) !== JSON.stringify(present[key]);
  });
  return (
    <div className="columns">
      <FieldErrors error={put.error ?? trial.error} labels={POLICY_LABELS}>
        <section className="card" aria-label="Policy">
          <p className="faint">
            Version {present.version}.{" "}
            {changed.length === 0 ? "No changes." : `Changed: ${changed.join(", ")}.`}
          </p>
          <PolicyForm policy={wanted} onChange={setWanted} onSound={setSound} />
          <ErrorBox error={put.error ?? trial.error} />
          <div className="row">
            <button type="button" disabled={trial.isPending || !sound} onClick={() => trial.mutate()}>
              Try it on the present queue
            </button>
            {administers && (
              <button
                type="button"
                className="primary"
                disabled={put.isPending || changed.length === 0 || !sound}
                onClick={() => put.mutate()}
              >
                Apply the policy
              </button>
            )}
            {changed.length > 0 && (
              <button type="button" onClick={() => setWanted(present)}>
                Undo the changes
              </button>
            )}
          </div>
        </section>
      </FieldErrors>
      <div>
        {trial.data && (
          <div key={trial.submittedAt} ref={intoView}>
            <DryRun result={trial.data} />
          </div>
        )}
        {administers && <PolicyHistory present={present} onChanged={onChanged} />}
      </div>
    </div>
  );
}
