/** What a form calls the fields of the API. */
export type Labels = Readonly<Record<string, string>>;

/** Parts of a request around the fields of a form. */
const AROUND = ["body", "query", "policy", "values", "amounts"];

/** What the form calls the value that a pointer of the API leads to; null where the form has no word for it. */
export function fieldLabel(pointer: string, labels: Labels): string | null {
  const parts = pointer.split("/").slice(1).map(unescaped);
  while (parts[0] !== undefined && !Object.hasOwn(labels, parts[0]) && AROUND.includes(parts[0]))
    parts.shift();
  const [field = "", ...inside] = parts;
  const label = Object.hasOwn(labels, field) ? labels[field] : undefined;
  return label === undefined ? null : [label, ...inside].join(" › ");
}

/** A part of a pointer as it is written in JSON (RFC 6901). */
function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
