/** Values of a description that its owner sees and others do not: the API leaves them empty. */

import { SECRETS_VARIABLE } from "./additions";

type Part = Record<string, unknown>;

/** Variables that forms set by themselves. */
export const MADE = ["HOME", "ZOE_INDEX", SECRETS_VARIABLE];

/** The variables and files whose contents are not there, by name. */
export function hiddenNames(description: Part): string[] {
  const found = partsOf(description).flatMap((part) => [
    ...emptyNames(part.environment).filter((name) => !MADE.includes(name)),
    ...emptyNames(part.files),
  ]);
  return [...new Set(found)];
}

function emptyNames(value: unknown): string[] {
  return Object.entries((value ?? {}) as Part).flatMap(([name, text]) => (text === "" ? [name] : []));
}

/** The description without all that may be hidden, to compare it with another. */
export function withoutContents(description: Part): Part {
  const components = partsOf(description).map((part) => ({ ...part, environment: {}, files: {} }));
  return { ...description, components };
}

/** The description without variables that have no value. */
export function withoutEmpty(description: Part): Part {
  const components = partsOf(description).map((part) => {
    const pairs = Object.entries((part.environment ?? {}) as Part);
    return { ...part, environment: Object.fromEntries(pairs.filter(([, text]) => text !== "")) };
  });
  return { ...description, components };
}

function partsOf(description: Part): Part[] {
  return Array.isArray(description.components) ? description.components : [];
}
