import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { follow, type Link, type Message } from "./stream";

/** A server whose answers stay open; what it says is said by the test. */
class Server {
  readonly asked: Request[] = [];
  private last: ReadableStreamDefaultController<Uint8Array> | null = null;

  readonly fetch = async (request: Request): Promise<Response> => {
    this.asked.push(request);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.last = controller;
        request.signal.addEventListener("abort", () => controller.error(request.signal.reason));
      },
    });
    return new Response(body);
  };

  say(text: string): void {
    this.last?.enqueue(new TextEncoder().encode(text));
  }
}

let server: Server;

beforeEach(() => {
  vi.useFakeTimers();
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("window", { location: { origin: "http://zoe.test" } });
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function followed() {
  const links: Link[] = [];
  const messages: Message[] = [];
  const stop = new AbortController();
  const ended = follow({
    url: "/api/v1/events",
    onMessages: (some) => messages.push(...some),
    onLink: (link) => links.push(link),
    signal: stop.signal,
  });
  return { links, messages, stop, ended };
}

it("takes a link that says nothing any more for broken, and goes on behind the last message", async () => {
  const { links, messages, stop, ended } = followed();
  await vi.advanceTimersByTimeAsync(0);
  server.say("id: 7\nevent: started\ndata: {}\n\n");
  await vi.advanceTimersByTimeAsync(39_000);
  expect(links).toEqual(["connecting", "live"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(links).toEqual(["connecting", "live", "away", "connecting", "live"]);
  expect(server.asked.map((request) => request.headers.get("Last-Event-ID"))).toEqual([null, "7"]);
  server.say("id: 8\nevent: end\ndata: {}\n\n");
  await ended;
  expect(messages.map((message) => message.id)).toEqual(["7", "8"]);
  expect(vi.getTimerCount()).toBe(0);
  stop.abort();
});

it("does not begin to read at all for longer than that, either", async () => {
  vi.stubGlobal("fetch", (request: Request) => {
    server.asked.push(request);
    return new Promise((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  });
  const { links, stop, ended } = followed();
  await vi.advanceTimersByTimeAsync(41_000);
  expect(links).toEqual(["connecting", "away", "connecting"]);
  stop.abort();
  await ended;
});

it("keeps a quiet link that says that it is there", async () => {
  const { links, stop, ended } = followed();
  for (let told = 0; told < 20; told += 1) {
    await vi.advanceTimersByTimeAsync(15_000);
    server.say(": still here\n\n");
  }
  expect(links).toEqual(["connecting", "live"]);
  expect(server.asked.length).toBe(1);
  stop.abort();
  await ended;
  expect(vi.getTimerCount()).toBe(0);
});
