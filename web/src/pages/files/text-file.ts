/** Texts that a page may edit and write back without changing what was not edited. */

export const EDIT_BYTES_MAX = 256 << 10;

export interface TextFile {
  text: string;
  /** How all its lines end. */
  newline: "\n" | "\r\n";
}

/** The text of a file; a sentence if it cannot be edited here. */
export function readText(bytes: Uint8Array): TextFile | string {
  if (bytes.length > EDIT_BYTES_MAX)
    return "It has more than 256 KiB: download it, and upload it when it is changed.";
  let text: string;
  try {
    // A byte-order mark stays.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "It is not UTF-8 text: download it to change it.";
  }
  if (text.includes("\0")) return "It is not text: download it to change it.";
  const pairs = text.split("\r\n").length - 1;
  if (text.split("\r").length - 1 > pairs || (pairs > 0 && text.split("\n").length - 1 > pairs))
    return "Its lines end in different ways, which a browser would change: download it to change it.";
  return { text: text.replaceAll("\r\n", "\n"), newline: pairs > 0 ? "\r\n" : "\n" };
}

/** The bytes of an edited text. */
export function writeText({ text, newline }: TextFile): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text.replaceAll("\n", newline));
}
