import { useMutation } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { useMay } from "../api/session";
import { fullMoment } from "../format";
import { riskSentence, wholeSentence } from "../promise";
import { ErrorBox } from "./feedback";
import { OfferList } from "./offers";

type Promised = Schemas["WorkflowPromiseView"];

interface Props {
  promise: Promised | null | undefined;
  /** Whether some of it has not ended. */
  open: boolean;
  /** Whether it was cancelled, so that nothing more is to be expected of the promise. */
  cancelled: boolean;
  accept: (offer: number) => Promise<unknown>;
  onSettled: () => void;
}

/** What is promised of all of a workflow or an array, or what is offered instead. */
export function WholePromise({ promise, open, cancelled, accept: send, onSettled }: Props) {
  const may = useMay("submit");
  const accept = useMutation({
    mutationFn: send,
    onSettled,
    meta: { done: (offer: number) => `Offer ${offer} is accepted.` },
  });
  if (!promise) return null;
  return (
    <section className="card" aria-label="Promise">
      <h2>{heading(promise)}</h2>
      {promise.terms && <p>{wholeSentence(promise.terms)}</p>}
      {cancelled && promise.terms && promise.status !== "missed" && <p>It was cancelled before.</p>}
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
      {open && promise.ends_s !== null && <p>Without an answer by {fullMoment(promise.ends_s)} it ends.</p>}
      <ErrorBox error={accept.error} />
    </section>
  );
}

function heading({ terms, why }: Promised): string {
  if (terms) return `It is promised to end by ${fullMoment(terms.finish_s)}`;
  return why ? `It cannot be promised: ${why}` : "The scheduler decides whether it can be promised";
}
