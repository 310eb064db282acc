import "../../testing/browser";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ExecutionList } from "./list";

type Answer = (url: URL) => unknown;

let asked: string[];
let answer: Answer;

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(`${url.pathname.replace("/api/v1", "")}${url.search}`);
    return Response.json(await answer(url));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function page(ids: string[], next_cursor: string | null = null) {
  return { executions: ids.map((id) => ({ id, submitted_at_s: 1, version: 1 })), next_cursor };
}

it("asks for the journal's place first, then page by page", async () => {
  answer = (url) => {
    if (url.pathname.endsWith("/status")) return { journal_id: 7 };
    return url.searchParams.has("cursor") ? page(["b"]) : page(["a"], "second");
  };
  const list = new ExecutionList({ state: ["running"] });
  await list.load();
  expect([list.since, list.more, list.table.ids]).toEqual([7, true, ["a"]]);
  await Promise.all([list.loadMore(), list.loadMore()]);
  await list.loadMore();
  expect([list.more, list.table.rows.size]).toEqual([false, 2]);
  expect(asked).toEqual([
    "/status",
    "/executions?state=running&arrays=false&limit=500",
    "/executions?state=running&arrays=false&limit=500&cursor=second",
  ]);
});

it("goes on with a search that has found nothing yet", async () => {
  answer = (url) => {
    if (url.pathname.endsWith("/status")) return { journal_id: 7 };
    return url.searchParams.has("cursor") ? page(["a"]) : page([], "on");
  };
  const list = new ExecutionList({ state: [], name: "needle" });
  await list.load();
  expect([list.more, list.table.ids]).toEqual([false, ["a"]]);
});

it("asks for the same page again after it was refused", async () => {
  answer = (url) => (url.pathname.endsWith("/status") ? { journal_id: 7 } : page(["a"], "second"));
  const list = new ExecutionList({ state: [] });
  await list.load();
  answer = () => Promise.reject(new Error("no network"));
  await expect(list.loadMore()).rejects.toThrow("Zoe does not answer");
  answer = () => page(["b"]);
  await list.loadMore();
  expect([list.more, list.table.rows.size]).toEqual([false, 2]);
});

it("reads rows again with its filter, and lets those go that it holds no more for", async () => {
  vi.useFakeTimers();
  answer = (url) => (url.pathname.endsWith("/status") ? { journal_id: 7 } : page(["a", "b"]));
  const list = new ExecutionList({ state: [], name: "herd" });
  await list.load();
  answer = () => page(["c"]);
  for (const id of ["a", "c"]) list.changes.add(id);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(new Set(list.table.ids)).toEqual(new Set(["b", "c"]));
  expect(asked.at(-1)).toBe("/executions?name=herd&arrays=false&id=a&id=c&limit=2");
});
