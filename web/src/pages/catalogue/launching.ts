/** What a filled form sends: an execution, an array or a schedule. */

import { api, asDescription, type Schemas, told } from "../../api/client";
import { asRefused, type Diagnostic, Refused } from "../../api/problem";
import { type Submission, submitted, submittedArray } from "../../api/submission";
import { withZone } from "../../deadline";
import { changedRequest, requestOf } from "../schedules/request";
import { withAdditions, wrongVariables } from "./additions";
import { withRunTime, wrongRunTime } from "./run-time";
import { checkFile } from "./script-file";
import type { Settings, Values } from "./settings";
import { beginOf, expressionOf, missingOf, repeats, type Timing } from "./timing";
import { zone } from "./timing-form";
import { withWish } from "./wish";

type Entry = Schemas["CatalogueEntryView"];
type Document = Record<string, unknown>;

/** As a schedule is added without options. */
const USUAL = { parameters: {}, ahead_s: 0, missed: "latest", overlap: "skip", jitter_s: 0 } as const;

/** The values that the server fills in: a script that is not chosen is refused there. */
export function valuesOf(entry: Entry, values: Values): Values {
  return entry.script ? { file: "", ...values } : values;
}

export function indicesOf(values: Values): string {
  return String(values.indices ?? "").trim();
}

/** The description of a filled form; throws Refused. */
export async function filledDocument(entry: Entry, settings: Settings): Promise<Document> {
  const answer = await told(
    api.POST("/api/v1/catalogue/{entry_id}/fill", {
      params: { path: { entry_id: entry.id } },
      body: { values: valuesOf(entry, settings.values) },
    }),
  );
  return withAll(answer.document, settings);
}

/** The description with what the form adds to it. */
export function withAll(document: Document, { additions, wish, runTime, values }: Settings): Document {
  const added = withAdditions(document, additions, indicesOf(values) !== "");
  return withWish(withRunTime(added, runTime), wish);
}

/** Sends the form; returns the address of what came of it, and the id of an execution. Throws Refused. */
export async function launched(entry: Entry, settings: Settings, keyOf: (body: object) => string) {
  checkForm(settings.timing, [
    ...wrongVariables(settings.additions.variables),
    ...wrongRunTime(settings.runTime),
  ]);
  const document = await filledDocument(entry, settings);
  if (entry.script) await checkFile(String(settings.values.file ?? ""));
  const indices = indicesOf(settings.values) || null;
  const deadline = withZone(settings.deadline) || null;
  const { timing } = settings;
  if (timing.when === "schedule" || repeats(timing)) {
    const what = { document, run_name: settings.name || null, indices, deadline };
    const put =
      timing.when === "schedule" ? changeSchedule(timing.schedule, what) : putSchedule(timing, what);
    return { address: await put, id: null };
  }
  const submission: Submission = {
    application: asDescription(document),
    name: settings.name || null,
    deadline,
    begin_at_s: beginOf(settings.timing),
  };
  if (indices !== null) {
    const { id } = await submittedArray({ ...submission, indices }, keyOf);
    return { address: `/arrays/${id}`, id };
  }
  const { id } = await submitted(submission, keyOf);
  return { address: `/executions/${id}`, id };
}

/** Throws Refused, at the fields that are to be filled, unless the times are complete and nothing else is wrong. */
export function checkForm(timing: Timing, wrong: Diagnostic[] = []): void {
  const missing = missingOf(timing, Date.now() / 1000);
  const errors = [...wrong, ...(missing ? [{ ...missing, code: "missing", hint: "" }] : [])];
  if (errors.length > 0) throw new Refused(422, "", "The form is not complete", "", errors);
}

/** Adds a schedule of that which is given at these times; returns its address. Throws Refused if its name is taken. */
export async function putSchedule(
  timing: Timing,
  what: Partial<Schemas["ScheduleRequest"]>,
): Promise<string> {
  const name = timing.schedule.trim();
  if (await named(isTaken(name)))
    throw new Refused(409, "", "The name is taken", "", [
      {
        pointer: "/schedule",
        code: "",
        message: `you have a schedule ${name}`,
        hint: "Give this one another name.",
      },
    ]);
  const times = { expression: expressionOf(timing), zone: zone() };
  const body = { ...times, ...USUAL, ...what };
  await named(told(api.PUT("/api/v1/schedules/{name}", { params: { path: { name } }, body })));
  return `/schedules?open=${encodeURIComponent(name)}`;
}

/** An answer of the API; what it refuses of the name in the address stands at the field of the schedule's name. */
async function named<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const { status, code, message, hint, errors } = asRefused(error);
    const placed = errors.map((one) =>
      ["/path", "/path/name"].includes(one.pointer) ? { ...one, pointer: "/schedule" } : one,
    );
    throw new Refused(status, code, message, hint, placed);
  }
}

/** Changes what a schedule runs, or when; all else stays. Returns its address; throws Refused. */
export async function changeSchedule(
  name: string,
  changed: Partial<Schemas["ScheduleRequest"]>,
): Promise<string> {
  const params = { path: { name } };
  const known = requestOf(await told(api.GET("/api/v1/schedules/{name}", { params })));
  await told(api.PUT("/api/v1/schedules/{name}", { params, body: changedRequest(known, changed) }));
  return `/schedules?open=${encodeURIComponent(name)}`;
}

async function isTaken(name: string): Promise<boolean> {
  try {
    await told(api.GET("/api/v1/schedules/{name}", { params: { path: { name } } }));
    return true;
  } catch (error) {
    if (asRefused(error).status === 404) return false;
    throw error;
  }
}
