import type { Diagnostic } from "../api/problem";

/** What a form calls the fields of the API. */
export type Labels = Readonly<Record<string, string>>;

/** Parts of a request around the fields of a form. */
const AROUND = ["body", "query", "path", "policy", "values", "amounts", "parameters"];

/** Parts of a request that a page wrote. */
const REQUEST = ["body", "query", "path", "header"];

/** A field of a form, and the way inside of it. */
export interface FieldPlace {
  field: string;
  inside: string[];
}

/** The field of a form that a pointer of the API leads to; null where the form has no word for it. */
export function fieldPlace(pointer: string, labels: Labels): FieldPlace | null {
  const parts = pointer.split("/").slice(1).map(unescaped);
  while (parts[0] !== undefined && !Object.hasOwn(labels, parts[0]) && AROUND.includes(parts[0]))
    parts.shift();
  const [field = "", ...inside] = parts;
  return Object.hasOwn(labels, field) ? { field, inside } : null;
}

/** What the form calls the value that a pointer of the API leads to; null where the form has no word for it. */
export function fieldLabel(pointer: string, labels: Labels): string | null {
  const place = fieldPlace(pointer, labels);
  return place && [labels[place.field], ...place.inside].join(" › ");
}

/** A place without a word of the form: in the user's own document as it is, in a request without what is around it. */
export function plainPlace(pointer: string): string {
  const parts = pointer.split("/").slice(1).map(unescaped);
  return parts[0] !== undefined && REQUEST.includes(parts[0]) ? parts.slice(1).join(".") : pointer;
}

/** What is said beside each field; findings that name no field of the form are left out. */
export function messagesByField(errors: Diagnostic[], labels: Labels): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const one of errors) {
    const place = fieldPlace(one.pointer, labels);
    if (place === null) continue;
    const where = place.inside.length > 0 ? `${place.inside.join(" › ")}: ` : "";
    const text = `${where}${one.message}${one.hint ? ` (${one.hint})` : ""}`;
    const said = found.get(place.field) ?? [];
    if (!said.includes(text)) found.set(place.field, [...said, text]);
  }
  return found;
}

/** A part of a pointer as it is written in JSON (RFC 6901). */
function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
