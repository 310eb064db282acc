import { proof } from "../../../api/proof";
import {
  CONTENT_BYTES_MAX,
  countOf,
  ERRORS,
  EXIT,
  INPUT,
  message,
  OUTPUT,
  sized,
  TAKEN,
  taken,
  WINDOW_BYTES,
} from "./frames";

const SUBPROTOCOL = "zoe-terminal";
const NOT_OPENED = "The server opens no terminal here. Does the service still run?";
const BROKE = "The connection to the server broke.";

export interface Opening {
  command: string[];
  rows: number;
  columns: number;
}

export interface Listener {
  /** `done` is called once the data are on the screen: until then the program may have to wait. */
  output: (data: Uint8Array, done: () => void) => void;
  /** Called once, with a sentence. */
  end: (why: string) => void;
}

/** One program in a service, over a WebSocket. */
export class Connection {
  private readonly socket: WebSocket;
  private readonly waiting: Uint8Array[] = [];
  private untaken = 0;
  private opened = false;
  private over = false;

  constructor(
    path: string,
    private readonly opening: Opening,
    private readonly listener: Listener,
  ) {
    // A page can set no header of a WebSocket, so that the proof of the session is a subprotocol.
    this.socket = new WebSocket(new URL(path, window.location.href.replace(/^http/, "ws")), [
      SUBPROTOCOL,
      proof(),
    ]);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.opened = true;
      this.socket.send(JSON.stringify({ ...this.opening, tty: true }));
    };
    this.socket.onmessage = ({ data }) => this.hear(data);
    this.socket.onclose = ({ reason }) => this.end(this.opened ? said(reason) : NOT_OPENED);
  }

  write(data: Uint8Array): void {
    for (let at = 0; at < data.length; at += CONTENT_BYTES_MAX) {
      this.waiting.push(data.subarray(at, at + CONTENT_BYTES_MAX));
    }
    this.sendWaiting();
  }

  resize(rows: number, columns: number): void {
    this.opening.rows = rows;
    this.opening.columns = columns;
    this.send(sized(rows, columns));
  }

  close(): void {
    this.over = true;
    this.socket.close();
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      this.end(problemText(data));
      return;
    }
    const content = new Uint8Array(data, 1);
    switch (new Uint8Array(data)[0]) {
      case OUTPUT:
      case ERRORS:
        this.listener.output(content, () => this.send(taken(content.length)));
        break;
      case TAKEN:
        this.untaken = Math.max(0, this.untaken - countOf(content));
        this.sendWaiting();
        break;
      case EXIT:
        this.end(endText(new TextDecoder().decode(content)));
        break;
    }
  }

  private sendWaiting(): void {
    let next = this.waiting[0];
    while (next && this.untaken + next.length <= WINDOW_BYTES) {
      this.waiting.shift();
      this.untaken += next.length;
      this.send(message(INPUT, next));
      next = this.waiting[0];
    }
  }

  private send(data: Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  private end(why: string): void {
    if (this.over) return;
    this.over = true;
    this.listener.end(why);
    this.socket.close();
  }
}

function said(reason: string): string {
  return reason ? `It was closed: ${reason}.` : BROKE;
}

/** What the server answers instead of a terminal. */
export function problemText(text: string): string {
  try {
    const { title, detail } = JSON.parse(text) as { title: string; detail?: string | null };
    return detail ? `${title}: ${detail}` : title;
  } catch {
    return BROKE;
  }
}

/** How the program ended. */
export function endText(text: string): string {
  const { exit_code, message: why } = JSON.parse(text) as { exit_code: number | null; message: string };
  const end = exit_code === null ? "It ended" : `It ended with exit code ${exit_code}`;
  return why ? `${end}: ${why}` : `${end}.`;
}
