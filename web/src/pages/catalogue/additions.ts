/** What a user adds to the description of an entry, beside the fields of its form: a repository, and secrets. */

type Document = Record<string, unknown>;

export interface Additions {
  git: string;
  ref: string;
  into: string;
  gitSecret: string;
  secrets: string[];
}

interface Part extends Document {
  name?: string;
}

// No field of a form begins like this.
const KEYS = { git: "_git", ref: "_git_ref", into: "_git_into", gitSecret: "_git_secret" } as const;
const SECRET = "_secret";

export const NO_ADDITIONS: Additions = { git: "", ref: "", into: "", gitSecret: "", secrets: [] };

/** The additions that a page's address names. */
export function readAdditions(query: URLSearchParams): Additions {
  const text = (key: string) => query.get(key) ?? "";
  return {
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
  for (const name of additions.secrets) query.append(SECRET, name);
}

/** The component that gets them: the one that ends the application, else one that users open, else the first. */
export function mainComponent(document: Document): string | null {
  const parts = componentsOf(document);
  const main = parts.find((part) => part.ends_application === true) ?? parts.find(isOpened) ?? parts[0];
  return main?.name ?? null;
}

/** The description with the additions in its main component; the server checks them with the rest. */
export function withAdditions(document: Document, additions: Additions): Document {
  const main = mainComponent(document);
  if (main === null) return document;
  const components = componentsOf(document).map((part) =>
    part.name === main ? added(part, additions) : part,
  );
  return { ...document, components };
}

function added(part: Part, { git, ref, into, gitSecret, secrets }: Additions): Part {
  const has = listOf(part.secrets).map((one) => one.name);
  const asked = secrets.filter((name) => !has.includes(name)).map((name) => ({ name }));
  const source = {
    git: git.trim(),
    ...(ref.trim() && { ref: ref.trim() }),
    ...(into.trim() && { into: into.trim() }),
    ...(gitSecret && { secret: gitSecret }),
  };
  return {
    ...part,
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

function listOf(value: unknown): Document[] {
  return Array.isArray(value) ? value : [];
}
