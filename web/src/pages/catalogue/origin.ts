/**
 * Which filled form of the catalogue may have made a description, read from the description itself. The server decides:
 * what it makes of the filled form must be the same description.
 */

import type { Schemas } from "../../api/client";
import { endingOf } from "../files/places";
import { type Additions, mainComponent, NO_ADDITIONS } from "./additions";
import { MADE } from "./hidden";
import { runTimeText } from "./run-time";
import type { Settings, Values } from "./settings";
import { NO_TIMING } from "./timing";
import { NO_WISH } from "./wish";

type Entry = Schemas["CatalogueEntryView"];
type Part = Record<string, unknown>;

const ROOTS: [string, string][] = [
  ["{workspace}/", ""],
  ["{shared}/", "shared:"],
];

export interface Origin {
  entry: Entry;
  settings: Settings;
}

/** The forms to try, each with what it would hold. */
export function originsOf(description: Part, entries: Entry[]): Origin[] {
  return entries.flatMap((entry) => {
    const settings = settingsOf(description, entry);
    return settings === null ? [] : [{ entry, settings }];
  });
}

function settingsOf(description: Part, entry: Entry): Settings | null {
  const parts = partsOf(description);
  const own = partsOf(entry.document);
  const alike = parts.length === own.length && parts.every((part, index) => part.name === own[index]?.name);
  const main = mainComponent(entry.document);
  const part = parts.find((one) => one.name === main);
  const base = own.find((one) => one.name === main);
  // The parameters of a framework are not in the description that it was expanded to.
  if (!alike || !part || !base || entry.document.frameworks) return null;
  const values = entry.script ? scriptValues(part, entry.script) : {};
  if (values === null) return null;
  return {
    values: { ...values, ...fieldValues(description, entry) },
    name: "",
    deadline: "",
    runTime: runTimeOf(description, entry),
    wish: NO_WISH,
    additions: additionsOf(part, base),
    timing: NO_TIMING,
  };
}

/** The run time that the description declares beyond its entry. */
function runTimeOf(description: Part, entry: Entry): string {
  const declared = (one: Part) => (one.size as { run_time_s?: number } | null | undefined)?.run_time_s;
  const seconds = declared(description);
  return seconds === undefined || seconds === declared(entry.document) ? "" : runTimeText(seconds);
}

function fieldValues(description: Part, entry: Entry): Values {
  const fields = Object.entries((entry.form?.properties ?? {}) as Record<string, Part>);
  const found = fields.map(([name, schema]) => {
    const [setting] = ((schema["x-zoe"] as Part | undefined)?.settings ?? []) as string[];
    return [name, setting === undefined ? undefined : valueAt(description, setting.split("."))];
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Values;
}

/** The value that a form puts at a path, such as `main.command.2`. */
function valueAt(description: Part, [name, ...path]: string[]): string | number | boolean | undefined {
  const part = partsOf(description).find((one) => one.name === name);
  let value: unknown = part ?? description;
  for (const key of part ? path : [name ?? "", ...path]) value = (value as Part | undefined)?.[key];
  if (Array.isArray(value)) return value.map((word) => quoted(String(word))).join(" ");
  return ["string", "number", "boolean"].includes(typeof value) ? (value as string) : undefined;
}

/** Script, arguments and instances as the form has them; null for another command. */
function scriptValues(part: Part, ending: string): Values | null {
  const words = textsOf(part.command);
  const at = words.findIndex(
    (word) => ROOTS.some(([root]) => word.startsWith(root)) && endingOf(word) === ending,
  );
  const [root, prefix] = ROOTS.find(([one]) => words[at]?.startsWith(one)) ?? [];
  if (root === undefined || prefix === undefined) return null;
  const rest = words.slice(at + 1).map((word) => quoted(plain(word)));
  return {
    file: prefix + plain(words[at]?.slice(root.length) ?? "").replaceAll("%", "%25"),
    ...(rest.length > 0 && { arguments: rest.join(" ") }),
    workers: Number(part.total_count ?? 1),
  };
}

/** What the component has beyond that of the entry. */
function additionsOf(part: Part, base: Part): Additions {
  const known = textsOf(base.requirements);
  const variables = Object.entries((part.environment ?? {}) as Record<string, string>).filter(
    ([name]) => !Object.hasOwn((base.environment ?? {}) as object, name) && !MADE.includes(name),
  );
  const has = partsIn(base.secrets).map((one) => one.name);
  const secrets = partsIn(part.secrets).filter((one) => !has.includes(one.name));
  const [source = {}] = partsIn(part.sources).slice(partsIn(base.sources).length);
  return {
    ...NO_ADDITIONS,
    packages: textsOf(part.requirements)
      .filter((one) => !known.includes(one))
      .join("\n"),
    variables: variables.map(([name, value]) => `${name}=${plain(value)}`).join("\n"),
    secrets: secrets.map(({ name, variable }) => (variable ? `${name}=${variable}` : String(name))),
    git: String(source.git ?? ""),
    ref: String(source.ref ?? ""),
    into: String(source.into ?? ""),
    gitSecret: String(source.secret ?? ""),
  };
}

/** A text of a description without templates. */
function plain(text: string): string {
  return text.replaceAll("{{", "{").replaceAll("}}", "}");
}

/** A word as a shell reads it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

function partsOf(document: Part): Part[] {
  return partsIn(document.components);
}

function partsIn(value: unknown): Part[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
