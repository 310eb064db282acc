import type { Schemas } from "../../api/client";

type State = Schemas["StateChoice"];

/** The states, after the words for several of them. */
export const STATES: State[] = [
  "waiting",
  "held",
  "active",
  "ended",
  "submitted",
  "queued",
  "starting",
  "running",
  "stopping",
  "succeeded",
  "failed",
  "cancelled",
];

const SEVERAL: Partial<Record<State, string[]>> = {
  waiting: ["submitted", "queued"],
  pending: ["submitted", "queued"],
  active: ["starting", "running", "stopping"],
  ended: ["succeeded", "failed", "cancelled"],
};

/** Whether a row in this state is among those of a filter, as the API decides it. */
export function matchesState(chosen: State[], state: string, held: boolean): boolean {
  if (chosen.length === 0) return true;
  return chosen.some((one) => (one === "held" ? held : (SEVERAL[one] ?? [one]).includes(state)));
}

type DeadlineStatus = Schemas["DeadlineStatus"];

export const DEADLINES: Record<DeadlineStatus, string> = { missed: "missed", at_risk: "at risk", met: "met" };

/** What of the executions is shown; it stands in the page's address, so that a view can be shared. */
export interface Filter {
  state: State[];
  user?: string;
  name?: string;
  deadline?: DeadlineStatus;
  all_tenants?: boolean;
}

export function readFilter(query: URLSearchParams): Filter {
  const filter: Filter = { state: STATES.filter((state) => query.getAll("state").includes(state)) };
  const user = query.get("user");
  const name = query.get("name");
  if (user) filter.user = user;
  if (name) filter.name = name;
  const deadline = query.get("deadline");
  if (deadline && deadline in DEADLINES) filter.deadline = deadline as DeadlineStatus;
  if (query.get("all_tenants") === "true") filter.all_tenants = true;
  return filter;
}

export function writeFilter(filter: Filter): URLSearchParams {
  const query = new URLSearchParams();
  for (const state of filter.state) query.append("state", state);
  if (filter.user) query.set("user", filter.user);
  if (filter.name) query.set("name", filter.name);
  if (filter.deadline) query.set("deadline", filter.deadline);
  if (filter.all_tenants) query.set("all_tenants", "true");
  return query;
}
