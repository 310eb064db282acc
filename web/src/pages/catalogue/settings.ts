/** All that a filled form holds, and how the page's address names it. */

import type { Schemas } from "../../api/client";
import type { Diagnostic } from "../../api/problem";
import type { Labels } from "../../components/field-label";
import { type Additions, readAdditions, writeAdditions } from "./additions";
import { readTiming, TIMING_LABELS, type Timing, writeTiming } from "./timing";
import { readWish, type Wish, writeWish } from "./wish";

type Entry = Schemas["CatalogueEntryView"];
export type Values = Record<string, string | number | boolean>;

export interface Settings {
  /** Of the fields that the entry has. */
  values: Values;
  name: string;
  deadline: string;
  /** How long it is expected to run, such as `90m`. */
  runTime: string;
  wish: Wish;
  additions: Additions;
  timing: Timing;
}

interface FieldSchema {
  type?: string;
  title?: string;
}

/** In the address of a form: what a clone could not copy. */
export const LEFT_OUT = "_left_out";
const NAME = "execution_name";
const DEADLINE = "execution_deadline";
const RUN_TIME = "execution_run_time";

export function readSettings(entry: Entry, query: URLSearchParams): Settings {
  return {
    values: readValues(entry, query),
    name: query.get(NAME) ?? "",
    deadline: query.get(DEADLINE) ?? "",
    runTime: query.get(RUN_TIME) ?? "",
    wish: readWish(query),
    additions: readAdditions(query),
    timing: readTiming(query),
  };
}

export function writeSettings(entry: Entry, settings: Settings): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of Object.keys(fieldsOf(entry))) {
    const value = settings.values[name];
    if (value !== undefined) query.set(name, String(value));
  }
  writeWish(query, settings.wish);
  writeAdditions(query, settings.additions);
  writeTiming(query, settings.timing);
  if (settings.name) query.set(NAME, settings.name);
  if (settings.deadline) query.set(DEADLINE, settings.deadline);
  if (settings.runTime) query.set(RUN_TIME, settings.runTime);
  return query;
}

function fieldsOf(entry: Entry): Record<string, FieldSchema> {
  return (entry.form?.properties ?? {}) as Record<string, FieldSchema>;
}

/** What the form calls its fields, and the parts of the description that it fills. */
export function labelsOf(entry: Entry): Labels {
  const titles = Object.entries(fieldsOf(entry)).map(([name, { title }]) => [name, title ?? name]);
  return {
    ...Object.fromEntries(titles),
    name: "Name of this execution",
    deadline: "Deadline",
    run_time: "Expected run time",
    promise: "Promise it",
    packages: "Packages",
    variables: "Variables",
    secrets: "Secrets",
    sources: "Git repository",
    ...TIMING_LABELS,
  };
}

const PLACES: [RegExp, (found: RegExpMatchArray) => string][] = [
  [/^\/components\/\d+\/requirements\/(\d+)/, ([, index]) => `/packages/number ${Number(index) + 1}`],
  [/^\/components\/\d+\/environment\/([^/]+)/, ([, name]) => `/variables/${name}`],
  [/^\/components\/\d+\/secrets/, () => "/secrets"],
  [/^\/components\/\d+\/sources/, () => "/sources"],
  [/^\/components\/\d+\/command/, () => "/command"],
  [/^\/components\/\d+\/resources\/(memory|cores)/, ([, name]) => `/${name}`],
  [/^\/components\/\d+\/(?:essential|total)_count/, () => "/workers"],
  [/^\/size(?:\/run_time_s)?$/, () => "/run_time"],
  [/^\/path\/name$/, () => "/schedule"],
  [/^(?:\/body)?\/indices/, () => "/indices"],
];

/** Where a request holds a description. */
const IN_REQUEST = /^(?:\/body)?\/(?:document|application)(?=\/)/;

/** Findings about a description, at the fields of the form that made these parts of it. */
export function atFields(errors: Diagnostic[]): Diagnostic[] {
  return errors.map((one) => {
    const pointer = one.pointer.replace(IN_REQUEST, "");
    for (const [place, field] of PLACES) {
      const found = pointer.match(place);
      if (found) return { ...one, pointer: field(found) };
    }
    return one;
  });
}

/** The form's values as the page's address gives them; what is no number where one belongs is left out. */
function readValues(entry: Entry, query: URLSearchParams): Values {
  const values: Values = {};
  for (const [name, schema] of Object.entries(fieldsOf(entry))) {
    const text = query.get(name);
    if (text === null) continue;
    if (schema.type === "boolean") values[name] = text === "true";
    else if (schema.type === "string") values[name] = text;
    else if (Number.isFinite(Number(text))) values[name] = Number(text);
  }
  return values;
}
