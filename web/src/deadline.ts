/** Deadlines in words, and as a user gives them. Times are seconds since the epoch. */

import type { Schemas } from "./api/client";
import { duration, fullMoment, moment } from "./format";

type Deadline = Schemas["DeadlineView"];
type Cause = NonNullable<Deadline["cause"]>;

const CAUSES: Record<Cause, string> = {
  not_begun: "its array began it after the deadline",
  too_short: "there was less time than the run takes",
  input_late: "it entered the queue late: it ran after others, had a time to begin, or was held",
  nodes_lost: "attempts were lost with their nodes, or by other failures of the platform",
  attempts_failed: "attempts failed, or were requeued",
  store: "it waited for its bandwidth of the object store, or ran without it",
  queue: "it waited in the queue",
  slower: "it ran for longer than expected",
  run_time_unknown: "no run time was known, and it waited for less time than it ran",
};
const LOST: Partial<Record<Cause, string>> = {
  input_late: "before the queue",
  nodes_lost: "in lost attempts",
  attempts_failed: "in failed attempts",
  store: "without its bandwidth",
  queue: "in the queue",
  slower: "more than expected",
};

/** What would be shown as 0.0 s says nothing. */
const SHOWN_S = 0.05;

/** For a list: the state of the deadline, else when it is; empty without one. */
export function deadlineCell(deadline: Deadline | null | undefined): string {
  if (!deadline) return "";
  if (deadline.status === "missed" || deadline.status === "met") return stateOf(deadline);
  return deadline.status === "at_risk" ? `at risk: ${moment(deadline.at_s)}` : moment(deadline.at_s);
}

/** When it is, with its date and its zone, and how the execution stands to it. */
export function deadlineInFull(deadline: Deadline): string {
  const state = stateOf(deadline);
  return `${fullMoment(deadline.at_s)}${state && `, ${state}`}`;
}

function stateOf({ status, cause }: Deadline): string {
  if (status === "missed" && cause) return `missed (${cause.replaceAll("_", " ")})`;
  return status === null ? "" : status.replaceAll("_", " ");
}

/** What is to be said of it on the page of an execution; empty if nothing is. */
export function deadlineSentence(deadline: Deadline | null | undefined): string {
  if (!deadline) return "";
  const name = `its deadline, ${moment(deadline.at_s)}`;
  if (deadline.status === "at_risk") return `It is expected to end after ${name}.`;
  if (deadline.status !== "missed" || !deadline.cause) return "";
  const lost = Object.entries(deadline.costs_s ?? {})
    .filter(([, seconds]) => seconds >= SHOWN_S)
    .sort(([, one], [, other]) => other - one)
    .map(([cause, seconds]) => `${duration(seconds)} ${LOST[cause as Cause] ?? cause}`);
  return `It missed ${name}: ${CAUSES[deadline.cause]}${lost.length > 0 ? ` (${lost.join(", ")})` : ""}.`;
}

// A duration, or a time that ends with an offset or with the name of a zone.
const COMPLETE = /^\+|^\d{1,7}$|[A-Za-z]$|[+-]\d\d:?\d\d$/;
const HAS_DATE_ONLY = /^\d{4}-\d\d-\d\d$/;

/** A time as its user writes it, with the browser's zone if it states none; the server reads it. */
export function withZone(text: string, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  const plain = text.trim();
  if (plain === "" || (COMPLETE.test(plain) && !HAS_DATE_ONLY.test(plain))) return plain;
  return `${plain} ${zone}`;
}
