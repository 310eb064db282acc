/** Promises that an execution ends by a time, and offers of other ones, in words. */

import type { Schemas } from "./api/client";
import { counted, duration, fullMoment, rate } from "./format";

type Terms = Schemas["FinishTermsView"];
type Notice = Schemas["PromiseNoticeView"];

const IN_WHAT: Record<Schemas["OfferKind"], string> = {
  earliest: "The earliest end with that confidence",
  less_sure: "In time, less surely",
  cheapest: "Later, for the lowest price",
  dearer: "In time, beyond the budget",
};

const RISKS: Record<Schemas["PromiseRisk"], string> = {
  no_room: "it waits, and the room for it is not free in time",
  slower: "it runs, and takes longer than expected",
  failed: "an attempt failed, and another does not end in time",
  held: "it is held, and does not end in time if it is released now",
  input_late: "it runs after others that have not ended",
};

/** In what an offer differs from what was asked for. */
export function inWhat({ kind }: { kind: Schemas["OfferKind"] }): string {
  return IN_WHAT[kind];
}

export function confidenceText({ confidence }: Terms): string {
  return `${Math.round(confidence * 100)} %`;
}

export function guaranteedText({ elastic, read_bytes_per_s: read, views }: Terms): string {
  const parts = [counted(elastic, "elastic service")];
  if (read) parts.push(`${rate(read)} to read`);
  if (views) parts.push("views of its inputs");
  return parts.join(", ");
}

export function termsPrice({ price, currency }: Terms): string {
  return price === null ? "not known" : `about ${price} ${currency}`;
}

/** How long it runs, and by what that is known. */
export function runText({ run_s: run, runs, wide }: Terms): string {
  const basis = runs > 0 ? counted(runs, "run") : "its declared run time";
  return `${duration(run)} (by ${basis}${wide ? "; a guess" : ""})`;
}

/** All of it. */
export function termsSentence(terms: Terms): string {
  const price = terms.price === null ? "" : `, for ${termsPrice(terms)}`;
  return (
    `It ends by ${fullMoment(terms.finish_s)} with ${confidenceText(terms)} confidence, with ` +
    `${guaranteedText(terms)} guaranteed${price}. It begins by ${fullMoment(terms.begin_by_s)} and takes ${runText(terms)}.`
  );
}

/** When an offer must be accepted, and whether a later answer makes it end later. */
export function standsSentence(
  { moves, ends_s: end }: { moves: boolean; ends_s?: number | null },
  nowS: number,
): string {
  if (end != null && end <= nowS) return `It could be accepted until ${fullMoment(end)}.`;
  const now = moves ? "These are the times if you accept now; accepted later, it ends later by as much." : "";
  const until = end == null ? "" : `It can be accepted until ${fullMoment(end)}.`;
  return [now, until].filter(Boolean).join(" ");
}

/** What is promised of a whole workflow. */
export function wholeSentence({
  finish_s: end,
  confidence,
  price,
  currency,
}: Schemas["WorkflowTermsView"]): string {
  const costs = price === null ? "" : `, for about ${price} ${currency}`;
  return `All of it ends by ${fullMoment(end)} with ${Math.round(confidence * 100)} % confidence${costs}.`;
}

/** Why a promise is expected to be broken, and when it ends instead. */
export function riskSentence({ risk, end_s: end }: Pick<Notice, "risk" | "end_s">): string {
  return `The promise is at risk: ${RISKS[risk]}. It is expected to end at ${fullMoment(end)}.`;
}

/** That fewer services are guaranteed at present, since it is early; null where that is not so. */
export function earlySentence({ terms, adjusted }: Schemas["PromiseView"], attempt: number): string | null {
  if (!adjusted || adjusted.attempt !== attempt || adjusted.elastic >= terms.elastic) return null;
  return `It is early: ${counted(adjusted.elastic, "elastic service")} guaranteed at present.`;
}

/** That more bandwidth is guaranteed at present, since it is late; null where that is not so. */
export function lateSentence({ terms, adjusted }: Schemas["PromiseView"], attempt: number): string | null {
  const read = adjusted?.read_bytes_per_s ?? 0;
  if (adjusted?.attempt !== attempt || read <= (terms.read_bytes_per_s ?? 0)) return null;
  return `It is late: ${rate(read)} to read guaranteed at present.`;
}

type Description = Record<string, unknown>;

/** A promise needs a time by which it ends: without one in the description, the run again asks for none. */
export function runnable(description: Description): Description {
  const { promise: _promise, ...plain } = description;
  const timed = description.deadline != null || description.deadline_s != null;
  return timed ? description : plain;
}
