/** A schedule as it is sent to the API. */

import type { Schemas } from "../../api/client";

type Request = Schemas["ScheduleRequest"];

/** The request that makes the schedule as it is. */
export function requestOf(schedule: Schemas["ScheduleDetail"]): Request {
  return {
    expression: schedule.expression,
    zone: schedule.zone,
    application: schedule.application,
    version: schedule.version,
    document: schedule.document,
    parameters: schedule.parameters,
    run_name: schedule.run_name,
    priority: schedule.priority,
    deadline_s: schedule.deadline_s,
    deadline: schedule.deadline ?? null,
    finish_by: schedule.finish_by ?? null,
    confidence: schedule.confidence ?? null,
    budget: schedule.budget ?? null,
    indices: schedule.indices,
    ahead_s: schedule.ahead_s ?? 0,
    missed: schedule.missed,
    overlap: schedule.overlap,
    jitter_s: schedule.jitter_s,
    end_at_s: schedule.end_at_s,
  };
}

/** The request with changes: what runs is a stored application with its version and parameters, or a document. */
export function changedRequest(known: Request, changed: Partial<Request>): Request {
  const ofDocument = changed.document ? { application: null, version: null, parameters: {} } : {};
  const ofStored = changed.application ? { document: null, version: null } : {};
  return { ...known, ...ofDocument, ...ofStored, ...changed };
}
