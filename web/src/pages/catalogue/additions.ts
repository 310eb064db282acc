/** What a user adds to the description of an entry, beside the fields of its form: packages, variables, a repository. */

import type { Diagnostic } from "../../api/problem";

type Document = Record<string, unknown>;

export interface Additions {
  /** Python packages, one in each line. */
  packages: string;
  /** Environment variables, NAME=VALUE in each line. */
  variables: string;
  git: string;
  ref: string;
  into: string;
  gitSecret: string;
  /** `NAME` for a file, `NAME=VARIABLE` for a variable. */
  secrets: string[];
}

interface Part extends Document {
  name?: string;
}

// No field of a form begins like this.
const KEYS = { git: "_git", ref: "_git_ref", into: "_git_into", gitSecret: "_git_secret" } as const;
const TEXTS = { packages: "_packages", variables: "_variables" } as const;
const SECRET = "_secret";
/** The variable with the directory of secrets that are files, as `zoe run --secret` sets it. */
export const SECRETS_VARIABLE = "ZOE_SECRETS";

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const INDEX = "{index}";

export const NO_ADDITIONS: Additions = {
  packages: "",
  variables: "",
  git: "",
  ref: "",
  into: "",
  gitSecret: "",
  secrets: [],
};

/** The additions that a page's address names. */
export function readAdditions(query: URLSearchParams): Additions {
  const text = (key: string) => query.get(key) ?? "";
  return {
    packages: text(TEXTS.packages),
    variables: text(TEXTS.variables),
    git: text(KEYS.git),
    ref: text(KEYS.ref),
    into: text(KEYS.into),
    gitSecret: text(KEYS.gitSecret),
    secrets: [...new Set(query.getAll(SECRET))],
  };
}

/** An address with a password in it, which must not stay in the browser's history. */
const WITH_PASSWORD = /:\/\/[^/@]*:[^/]*@/;

export function writeAdditions(query: URLSearchParams, additions: Additions): void {
  if (additions.git && !WITH_PASSWORD.test(additions.git))
    for (const [name, key] of Object.entries(KEYS)) {
      const value = additions[name as keyof typeof KEYS];
      if (value) query.set(key, value);
    }
  for (const [name, key] of Object.entries(TEXTS)) {
    const value = additions[name as keyof typeof TEXTS];
    if (value.trim()) query.set(key, value);
  }
  for (const name of additions.secrets) query.append(SECRET, name);
}

/** The packages, without comments and empty lines, as in a file of pip. */
export function packagesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/(^|\s)#.*/, "").trim());
  return lines.filter((line) => line !== "");
}

/** The variables by name, without lines that `wrongVariables` tells. */
export function variablesOf(text: string): Record<string, string> {
  const given = variableLines(text).filter(({ equals, name }) => equals && VARIABLE.test(name));
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

/** What is wrong with the variables, by line. */
export function wrongVariables(text: string): Diagnostic[] {
  const lines = variableLines(text);
  const again = lines.filter((line, index) => lines.findIndex(({ name }) => name === line.name) < index);
  const repeated = again.map(({ number, name }) => ({
    pointer: `/variables/line ${number}`,
    code: "duplicate",
    message: `${name} has a value already`,
    hint: "",
  }));
  const wrong = lines
    .filter(({ equals, name }) => !equals || !VARIABLE.test(name))
    .map(({ number, name }) => ({
      pointer: `/variables/line ${number}`,
      code: "bad_format",
      message: `${name} is no variable`,
      hint: "write NAME=VALUE, with letters, digits and _ in the name",
    }));
  return [...wrong, ...repeated];
}

function variableLines(text: string) {
  const lines = text.split("\n").map((line, index) => {
    const [name = "", ...rest] = line.split("=");
    return { number: index + 1, name: name.trim(), equals: rest.length > 0, value: rest.join("=") };
  });
  return lines.filter(({ name, equals }) => name !== "" || equals);
}

/** A text for a description, in which braces are templates; `{index}` of an array stays one. */
export function literal(text: string, array: boolean): string {
  const escaped = (part: string) => part.replaceAll("{", "{{").replaceAll("}", "}}");
  return array ? text.split(INDEX).map(escaped).join(INDEX) : escaped(text);
}

/** A secret as descriptions have it. */
export function secretOf(text: string): { name: string; variable?: string } {
  const [name = "", variable = ""] = text.split("=");
  return variable.trim() === "" ? { name } : { name, variable: variable.trim() };
}

/** The component that gets them: the one that ends the application, else one that users open, else the first. */
export function mainComponent(document: Document): string | null {
  const parts = componentsOf(document);
  const main = parts.find((part) => part.ends_application === true) ?? parts.find(isOpened) ?? parts[0];
  return main?.name ?? null;
}

/** The description with the additions in its main component; the server checks them with the rest. */
export function withAdditions(document: Document, additions: Additions, array = false): Document {
  const main = mainComponent(document);
  if (main === null) return document;
  const components = componentsOf(document).map((part) =>
    part.name === main ? added(part, additions, array) : part,
  );
  return { ...document, components };
}

function added(part: Part, additions: Additions, array: boolean): Part {
  const { git, ref, into, gitSecret, secrets } = additions;
  const packages = packagesOf(additions.packages);
  const variables = Object.entries(variablesOf(additions.variables)).map(([name, value]) => [
    name,
    literal(value, array),
  ]);
  const has = listOf(part.secrets).map((one) => one.name);
  const asked = secrets.map(secretOf).filter(({ name }) => !has.includes(name));
  const files = asked.filter(({ variable }) => variable === undefined);
  const source = {
    git: git.trim(),
    ...(ref.trim() && { ref: ref.trim() }),
    ...(into.trim() && { into: into.trim() }),
    ...(gitSecret && { secret: gitSecret }),
  };
  return {
    ...part,
    ...(packages.length > 0 && { requirements: [...textsOf(part.requirements), ...packages] }),
    ...(variables.length + files.length > 0 && {
      environment: {
        ...(part.environment as object | undefined),
        ...(files.length > 0 && { [SECRETS_VARIABLE]: "{secrets}" }),
        ...Object.fromEntries(variables),
      },
    }),
    ...(asked.length > 0 && { secrets: [...listOf(part.secrets), ...asked] }),
    ...(source.git && { sources: [...listOf(part.sources), source] }),
  };
}

function isOpened(part: Part): boolean {
  return listOf(part.ports).some((port) => port.proxied === true);
}

function componentsOf(document: Document): Part[] {
  return listOf(document.components);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value : [];
}

function listOf(value: unknown): Document[] {
  return Array.isArray(value) ? value : [];
}
