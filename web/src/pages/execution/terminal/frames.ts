/** The messages of a terminal: one byte that names the kind, then the content (see zoe_client/calls/frames.py). */

export const INPUT = 0x69;
export const SIZE = 0x77;
export const TAKEN = 0x61;
export const OUTPUT = 0x6f;
export const ERRORS = 0x72;
export const EXIT = 0x78;

/** How much content may be on its way that the other side has not taken, and how much a message holds, in bytes. */
export const WINDOW_BYTES = 256 * 1024;
export const CONTENT_BYTES_MAX = 64 * 1024;

export function message(kind: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(1 + content.length);
  made[0] = kind;
  made.set(content, 1);
  return made;
}

export function sized(rows: number, columns: number): Uint8Array<ArrayBuffer> {
  const content = new DataView(new ArrayBuffer(4));
  content.setUint16(0, rows);
  content.setUint16(2, columns);
  return message(SIZE, new Uint8Array(content.buffer));
}

export function taken(count: number): Uint8Array<ArrayBuffer> {
  const content = new DataView(new ArrayBuffer(4));
  content.setUint32(0, count);
  return message(TAKEN, new Uint8Array(content.buffer));
}

export function countOf(content: Uint8Array): number {
  return new DataView(content.buffer, content.byteOffset).getUint32(0);
}
