import { createParser } from "eventsource-parser";
import { fetchSignedIn } from "./client";

export interface Message {
  id: string;
  event: string;
  data: string;
}

export type Link = "connecting" | "live" | "away";

interface Followed {
  /** Path and query of a stream of server-sent events. */
  url: string;
  /** The id after which to begin; the server's choice when it is not given. */
  lastId?: string | undefined;
  onMessages: (messages: Message[]) => void;
  onLink: (link: Link) => void;
  signal: AbortSignal;
}

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;
// The server says something every 15 s: what is silent for longer than two of these is a link that only seems to be there.
const SILENT_MS_MAX = 40_000;

/**
 * Follows a stream until its event `end` or the signal. After a break it goes on behind the last message seen, so
 * nothing is missed. While the page is hidden it lets go: browsers allow six connections to a host in all tabs.
 */
export async function follow(followed: Followed): Promise<void> {
  const { signal, onLink } = followed;
  let lastId = followed.lastId;
  let pauseMs = PAUSE_MS_MIN;
  while (!signal.aborted) {
    await visible(signal);
    onLink("connecting");
    try {
      const ended = await readOnce(followed, lastId, (id) => {
        lastId = id;
        pauseMs = PAUSE_MS_MIN;
      });
      if (ended) return;
    } catch {
      // Whatever broke it, going on from the last message is what helps.
    }
    if (signal.aborted) return;
    if (document.hidden) continue;
    onLink("away");
    await pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}

async function readOnce(
  followed: Followed,
  lastId: string | undefined,
  seen: (id: string) => void,
): Promise<boolean> {
  const link = new AbortController();
  const letGo = () => link.abort();
  const onHidden = () => document.hidden && letGo();
  followed.signal.addEventListener("abort", letGo);
  document.addEventListener("visibilitychange", onHidden);
  let watch = setTimeout(letGo, SILENT_MS_MAX);
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(letGo, SILENT_MS_MAX);
  };
  try {
    const headers: HeadersInit = lastId === undefined ? {} : { "Last-Event-ID": lastId };
    const answer = await fetchSignedIn(
      new Request(new URL(followed.url, window.location.origin), { headers, signal: link.signal }),
    );
    if (answer.status === 404) return true;
    if (!answer.ok || answer.body === null) throw new Error(`answered ${answer.status}`);
    followed.onLink("live");
    return await readBody(answer.body, followed.onMessages, seen, heard);
  } finally {
    clearTimeout(watch);
    followed.signal.removeEventListener("abort", letGo);
    document.removeEventListener("visibilitychange", onHidden);
  }
}

async function readBody(
  body: ReadableStream<Uint8Array>,
  onMessages: (messages: Message[]) => void,
  seen: (id: string) => void,
  heard: () => void,
): Promise<boolean> {
  let batch: Message[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => batch.push({ id: id ?? "", event: event ?? "message", data }),
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    heard();
    parser.feed(decoder.decode(value, { stream: true }));
    if (batch.length === 0) continue;
    const messages = batch;
    batch = [];
    onMessages(messages);
    const last = messages[messages.length - 1];
    if (last?.id) seen(last.id);
    if (last?.event === "end") return true;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
  });
}
