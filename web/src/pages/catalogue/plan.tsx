import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { api, asDescription, type Schemas, told } from "../../api/client";
import { asRefused } from "../../api/problem";
import { Loading, ProblemBox } from "../../components/feedback";
import { Hint } from "../../components/hint";
import { OwnUse } from "../../components/own-use";
import { withZone } from "../../deadline";
import { expectedText } from "../../forecast";
import { bytes, counted, duration, moment, number } from "../../format";
import { inWhat, termsSentence } from "../../promise";
import { changeText } from "../execution/change-text";
import { instancesText } from "../execution/instances-text";
import { choicesOf } from "./choices";
import { PriceCurve } from "./price-curve";
import { atFields } from "./settings";

type Plan = Schemas["PlanView"];
type ArrayPlan = Schemas["ArrayPlanView"];

const ASK_AGAIN_MS = 5_000;
// One plan of a user is computed at a time: another page of theirs may have asked just before.
const BUSY_RETRY_MS = 1_000;
const BUSY_RETRIES_MAX = 10;

interface LivePlanProps {
  document: Record<string, unknown>;
  deadline?: string;
  /** Of an array; the rest of the plan is about one of them. */
  indices?: string;
  /** When it enters the queue, unless that is now: a plan says what would happen now. */
  when?: string | null;
  /** Called with why it is refused; null: it is not. */
  onRefused?: (error: unknown) => void;
  onDeadline?: (deadline: string) => void;
  /** Leads to the field of the run time; undefined: there is none. */
  onRunTime?: () => void;
}

/** What would become of a description if it were submitted now: does it fit, when would it start, what would it take. */
export function LivePlan({
  document,
  deadline = "",
  indices = "",
  when = null,
  onRefused,
  onDeadline,
  onRunTime,
}: LivePlanProps) {
  const { data, error, isLoading } = usePlan(document, deadline, indices);
  const choices = useMemo(() => choicesOf(data?.run_times ?? []), [data?.run_times]);
  useEffect(() => {
    onRefused?.(error);
    return () => onRefused?.(null);
  }, [error, onRefused]);
  return (
    <div>
      <section className="card" aria-label="What would happen" aria-live="polite">
        {isLoading && <Loading what="Computing" />}
        {error && <Refusal error={error} />}
        {!error &&
          data &&
          (when === null ? <Now plan={data} onRunTime={onRunTime} /> : <Later plan={data} when={when} />)}
      </section>
      {choices && <PriceCurve given={choices} onDeadline={onDeadline} />}
    </div>
  );
}

function usePlan(document: Record<string, unknown>, deadline: string, indices: string) {
  return useQuery({
    queryKey: ["plan", document, deadline, indices],
    queryFn: () =>
      told(
        api.POST("/api/v1/plan", {
          body: {
            application: asDescription(document),
            deadline: withZone(deadline) || null,
            indices: indices || null,
          },
        }),
      ),
    placeholderData: (before) => before,
    refetchInterval: ASK_AGAIN_MS,
    retry: (failures, error) => asRefused(error).code === "plan_busy" && failures < BUSY_RETRIES_MAX,
    retryDelay: BUSY_RETRY_MS,
  });
}

function Refusal({ error }: { error: unknown }) {
  const refused = asRefused(error);
  const title = refused.code === "never_fits" ? "It can never start on this installation" : refused.message;
  const text = refused.code === "never_fits" ? refused.message : "";
  return <ProblemBox title={title} text={text} hint={refused.hint} errors={atFields(refused.errors)} />;
}

/** What is true at any time: that it fits, and what it takes. */
function Later({ plan, when }: { plan: Plan; when: string }) {
  return (
    <>
      <h2>It would enter the queue {when}</h2>
      <p>What is free then decides whether it starts at once.</p>
      <dl className="facts">
        <Takes plan={plan} />
      </dl>
      <Notes plan={plan} />
    </>
  );
}

function cutText({ cut_after_steps: steps }: Plan) {
  return steps == null
    ? "the queue is very long"
    : `the search was cut after ${steps.toLocaleString("en")} steps`;
}

function Now({ plan, onRunTime }: { plan: Plan; onRunTime: (() => void) | undefined }) {
  const { forecast, demand } = plan;
  return (
    <>
      <h2>
        {plan.array ? arrayTitle(plan.array) : plan.starts_now ? "It would start now" : "It would wait"}
      </h2>
      {plan.array && <OfArray array={plan.array} />}
      {!plan.starts_now && plan.reason && <p>{plan.reason.sentence}</p>}
      {plan.own_use && <OwnUse own={plan.own_use} startS={forecast?.start_p50_s} />}
      {!plan.starts_now && <Hint hint={plan.reason?.hint} />}
      {plan.starts_now && plan.instances?.map((count) => <p key={count.component}>{instancesText(count)}</p>)}
      {plan.fewer && <p>Fewer than preferred: {plan.fewer.sentence}</p>}
      {plan.change && <p>The smallest change that would start it now: {changeText(plan.change)}</p>}
      {plan.change_sought === false && <p>Not all smaller applications were tried: {cutText(plan)}.</p>}
      {plan.deadline && (!plan.promise || plan.array) && (
        <p className={`notice ${plan.deadline.outlook === "cannot_be_met" ? "bad" : ""}`}>
          {plan.deadline.sentence}
          {plan.deadline.note && ` Note: ${plan.deadline.note}.`}
        </p>
      )}
      {plan.promise && !plan.array && <Outlook promise={plan.promise} />}
      {plan.promise && plan.array && (
        <p className="notice">
          All indices are promised together: that is decided when the array is launched.
        </p>
      )}
      {onRunTime && lacksRunTime(plan) && (
        <button type="button" className="link" onClick={onRunTime}>
          Give the expected run time
        </button>
      )}
      <dl className="facts">
        {!plan.starts_now && (
          <>
            <dt>Ahead of it</dt>
            <dd>{plan.ahead}</dd>
          </>
        )}
        {forecast && forecast.start_p90_s !== null && !plan.starts_now && (
          <>
            <dt>Start</dt>
            <dd className="num">
              {expectedText(forecast.start_p50_s, forecast.start_p90_s, Date.now() / 1000)}
            </dd>
          </>
        )}
        {forecast?.end_p90_s && (
          <>
            <dt>End</dt>
            <dd className="num">by {moment(forecast.end_p90_s)} (p90)</dd>
          </>
        )}
        <Takes plan={plan} />
        {demand && (
          <>
            <dt>Quota</dt>
            <dd className="num">
              {demand.executions_max === null
                ? `${counted(demand.executions + 1, "execution")} with this one, no limit`
                : `${demand.executions + 1} of ${counted(demand.executions_max, "execution")} with this one`}
              {demand.executions_of_user_max !== null &&
                `; of yours ${demand.executions_of_user + 1} of ${demand.executions_of_user_max}`}
            </dd>
          </>
        )}
      </dl>
      <Notes plan={plan} />
    </>
  );
}

/** Whether nothing tells how long it runs, and so no time is forecast or promised. */
function lacksRunTime({ deadline, promise, run_times: runTimes }: Plan): boolean {
  const unknown = deadline != null && deadline.run_s === null;
  const refused = promise != null && promise.terms === null && promise.offers?.offers.length === 0;
  return (unknown || refused) && (deadline?.run_s ?? null) === null && !runTimes?.length;
}

function arrayTitle({ count, starts }: ArrayPlan): string {
  if (starts === 0)
    return count === 1 ? "It would wait" : `All ${counted(count, "index", "indices")} would wait`;
  if (starts >= count)
    return count === 1 ? "It would start now" : `All ${counted(count, "index", "indices")} would start now`;
  return `${starts.toLocaleString("en")} of ${counted(count, "index", "indices")} would start now`;
}

function OfArray({ array: { count, starts, at_once: atOnce, reason } }: { array: ArrayPlan }) {
  return (
    <>
      {starts > 0 && starts < count && (
        <p>
          {(count - starts).toLocaleString("en")} would wait{reason ? `: ${reason.sentence}` : "."}
        </p>
      )}
      {atOnce != null && <p>At most {atOnce.toLocaleString("en")} run at once.</p>}
      <p className="faint">What follows is about each index.</p>
    </>
  );
}

/** Facts: what it takes, and what that costs. */
function Takes({ plan: { demand, price } }: { plan: Plan }) {
  if (!demand) return null;
  return (
    <>
      <dt>Essential</dt>
      <dd className="num">{taken(demand.core)}</dd>
      <dt>Elastic</dt>
      <dd className="num">{demand.elastic.services === 0 ? "none" : `up to ${taken(demand.elastic)}`}</dd>
      {price && (
        <>
          <dt>Price</dt>
          <dd className="num">{priceText(price)}</dd>
        </>
      )}
      {demand.time_limit_s !== null && (
        <>
          <dt>At most</dt>
          <dd className="num">
            {number((demand.core.cores * demand.time_limit_s) / 3600)} core-hours for its essential services,
            until its time limit of {duration(demand.time_limit_s)}
          </dd>
        </>
      )}
    </>
  );
}

function Notes({ plan }: { plan: Plan }) {
  return plan.notes?.map((note) => (
    <p className="notice" key={note}>
      {note}
    </p>
  ));
}

/** What would be promised, else what would be offered. */
function Outlook({ promise: { terms, offers } }: { promise: Schemas["PromiseOutlookView"] }) {
  if (terms) return <p className="notice good">It would be promised. {termsSentence(terms)}</p>;
  if (!offers) return null;
  return (
    <div className="notice bad">
      <p>
        It would not be promised: {offers.why}.{" "}
        {offers.offers.length === 0 ? "There would be no offers." : "There would be offers:"}
      </p>
      <ul>
        {offers.offers.map((one) => (
          <li key={one.number}>
            {inWhat(one)}: {termsSentence(one.terms)}{" "}
            {one.moves && "Accepted later, it ends later by as much."}
          </li>
        ))}
      </ul>
    </div>
  );
}

const BASIS = {
  expected: "for its expected run time of",
  forecast: "for the run time that is forecast:",
  time_limit: "if it runs until its time limit of",
  hour: "while its run time is not known: in",
};

function priceText(price: NonNullable<Plan["price"]>): string {
  const basis = BASIS[price.basis as keyof typeof BASIS];
  const gaps = price.gaps?.length ? `; ${price.gaps.join("; ")}` : "";
  return `about ${price.amount} ${price.currency}, with all services, ${basis} ${duration(price.run_s)}${gaps}`;
}

function taken(share: NonNullable<Plan["demand"]>["core"]): string {
  return `${counted(share.services, "service")}, ${counted(share.cores, "core")}, ${bytes(share.memory_bytes)}`;
}
