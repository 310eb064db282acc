import Anser from "anser";

export interface Piece {
  text: string;
  style: Record<string, string>;
}

const LINES_MAX = 200_000;

/**
 * Output cut into lines. A carriage return starts the line anew, as progress bars mean it; of very long output the
 * oldest lines go.
 */
export class LogLines {
  lines: string[] = [];
  dropped = 0;
  private open = "";
  private readonly decoder = new TextDecoder();

  add(bytes: Uint8Array): void {
    const parts = (this.open + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.open = parts.pop() ?? "";
    for (const part of parts) this.lines.push(afterReturn(part));
    if (this.lines.length > LINES_MAX) {
      const over = this.lines.length - LINES_MAX;
      this.lines = this.lines.slice(over);
      this.dropped += over;
    }
  }

  /** All lines, the one that is not ended yet included. */
  all(): string[] {
    return this.open === "" ? this.lines : [...this.lines, afterReturn(this.open)];
  }
}

function afterReturn(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf("\r") + 1);
}

/** A line with its ANSI colours as styles; texts stay texts, so nothing in them can become markup. */
export function coloured(line: string): Piece[] {
  if (!line.includes("\u001b")) return [{ text: line, style: {} }];
  return Anser.ansiToJson(line, { remove_empty: true }).map((piece) => {
    const style: Record<string, string> = {};
    if (piece.fg) style.color = `rgb(${piece.fg})`;
    if (piece.bg) style.backgroundColor = `rgb(${piece.bg})`;
    if (piece.decorations.includes("bold")) style.fontWeight = "bold";
    if (piece.decorations.includes("underline")) style.textDecoration = "underline";
    return { text: piece.content, style };
  });
}

export function plain(line: string): string {
  return line.includes("\u001b") ? Anser.ansiToText(line) : line;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
