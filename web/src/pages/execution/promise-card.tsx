import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { ErrorBox } from "../../components/feedback";
import { useNow } from "../../components/now";
import { OfferList } from "../../components/offers";
import { Documentation } from "../../documentation";
import { distance, fullMoment } from "../../format";
import {
  confidenceText,
  earlySentence,
  guaranteedText,
  lateSentence,
  riskSentence,
  runText,
  termsPrice,
  termsSentence,
} from "../../promise";
import type { Execution } from "./types";

/** What is promised to it, else what is offered instead. */
export function PromiseCard({ execution }: { execution: Execution }) {
  const { promise, offers } = execution;
  if (promise) return <Promised promise={promise} execution={execution} />;
  return offers ? <Offers execution={execution} offers={offers} /> : null;
}

function Promised({ promise, execution }: { promise: Schemas["PromiseView"]; execution: Execution }) {
  const { terms, notice } = promise;
  const over = execution.outcome !== null;
  const early = over ? null : earlySentence(promise, execution.attempt);
  const late = over ? null : lateSentence(promise, execution.attempt);
  return (
    <section className="card" aria-label="Promise">
      <h2>
        It {over ? "was" : "is"} promised to end by {fullMoment(terms.finish_s)}
      </h2>
      {notice && !over && <p className="notice bad">{riskSentence(notice)}</p>}
      {early && <p>{early}</p>}
      {late && <p>{late}</p>}
      <dl className="facts">
        <dt>Confidence</dt>
        <dd>{confidenceText(terms)}</dd>
        <dt>Guaranteed</dt>
        <dd>{guaranteedText(terms)}</dd>
        <dt>Price</dt>
        <dd className="num">{termsPrice(terms)}</dd>
        <dt>Begins</dt>
        <dd className="num">by {fullMoment(terms.begin_by_s)}</dd>
        <dt>Takes</dt>
        <dd className="num">{runText(terms)}</dd>
        {promise.offer > 0 && (
          <>
            <dt>Accepted</dt>
            <dd>offer {promise.offer}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Offers({ execution, offers }: { execution: Execution; offers: Schemas["OffersView"] }) {
  const now = useNow();
  const queries = useQueryClient();
  const may = useMay("submit") && execution.access === "control";
  const accept = useMutation({
    mutationFn: (offer: number) =>
      told(
        api.POST("/api/v1/executions/{execution_id}/accept", {
          params: { path: { execution_id: execution.id } },
          body: { offer },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
    meta: { done: (offer: number) => `Offer ${offer} is accepted.` },
  });
  // The API decides when they are over, by its clock and not by this one.
  const open = execution.state === "submitted";
  return (
    <section className="card" aria-label="Offers">
      <h2>It cannot be promised: {offers.why}</h2>
      {offers.offers.length === 0 && <p>There are no offers of other times.</p>}
      <p>
        <Documentation page="offers">How Zoe decides on promises and offers</Documentation>
      </p>
      <OfferList
        offers={offers.offers.map((one) => ({ ...one, sentence: termsSentence(one.terms) }))}
        accept={may && open ? accept : null}
      />
      {open && offers.offers.length > 0 && (
        <p>
          Without an answer by {fullMoment(offers.ends_s)} ({distance(offers.ends_s, now)}) it ends.
        </p>
      )}
      <ErrorBox error={accept.error} />
    </section>
  );
}
