import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { ErrorBox } from "../../components/feedback";
import { OfferList } from "../../components/offers";
import { fullMoment } from "../../format";
import { riskSentence, wholeSentence } from "../../promise";

/** What is promised of all of it, or what is offered instead. */
export function PromiseCard({ workflow }: { workflow: Schemas["WorkflowView"] }) {
  const queries = useQueryClient();
  const may = useMay("submit");
  const accept = useMutation({
    mutationFn: (offer: number) =>
      told(
        api.POST("/api/v1/workflows/{workflow_id}/accept", {
          params: { path: { workflow_id: workflow.id } },
          body: { offer },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["workflow", workflow.id] }),
  });
  const { promise } = workflow;
  if (!promise) return null;
  const open = workflow.ended_at_s === null;
  return (
    <section className="card" aria-label="Promise">
      <h2>{heading(promise)}</h2>
      {promise.terms && <p>{wholeSentence(promise.terms)}</p>}
      {promise.status === "met" && <p>The promise was kept.</p>}
      {promise.status === "missed" && (
        <p className="notice bad">The promise is broken: the time has passed before all of it had ended.</p>
      )}
      {promise.risks.map((one) => (
        <p key={one.step} className="notice bad">
          {one.step}: {riskSentence(one)}
        </p>
      ))}
      <OfferList
        offers={promise.offers.map((one) => ({ ...one, sentence: wholeSentence(one.terms) }))}
        accept={may && open ? accept : null}
      />
      {open && promise.ends_s !== null && (
        <p>They can be accepted until {fullMoment(promise.ends_s)}. Without an answer it ends then.</p>
      )}
      <ErrorBox error={accept.error} />
    </section>
  );
}

function heading({ terms, why }: Schemas["WorkflowPromiseView"]): string {
  if (terms) return `It is promised to end by ${fullMoment(terms.finish_s)}`;
  return why ? `It cannot be promised: ${why}` : "The scheduler decides whether it can be promised";
}
