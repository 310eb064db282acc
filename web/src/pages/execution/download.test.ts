import "../../testing/browser";
import { afterEach, expect, it, vi } from "vitest";
import { keptOutput } from "./download";

const PATH = "/api/v1/executions/e/services/s/logs";

/** A service whose output is asked for piece by piece; the first bytes are not kept any more. */
function serve(kept: string, begin: number, pieceBytes: number, ended: boolean): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(`${url.pathname}?offset=${url.searchParams.get("offset")}`);
    const offset = Math.max(Number(url.searchParams.get("offset")), begin);
    const data = kept.slice(offset - begin, offset - begin + pieceBytes);
    const next_offset = offset + data.length;
    return Response.json({
      data: btoa(data),
      offset,
      next_offset,
      complete: ended && next_offset === begin + kept.length,
    });
  });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

it("reads all that is kept of what has ended, colours and all", async () => {
  const kept = `\u001b[31mred\u001b[0m\r\n${"x\n".repeat(210_000)}`;
  const asked = serve(kept, 5, 200_000, true);
  expect(await (await keptOutput("e", "s")).text()).toBe(kept);
  expect(asked).toEqual([0, 200_005, 400_005].map((offset) => `${PATH}?offset=${offset}`));
});

it("reads to where the output has come of what still runs", async () => {
  const asked = serve("so far", 0, 4, false);
  expect(await (await keptOutput("e", "s")).text()).toBe("so far");
  expect(asked.length).toBe(3);
});

it("fails as a whole when a piece is refused", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ title: "Not found" }, { status: 404 }));
  await expect(keptOutput("e", "s")).rejects.toThrow("Not found");
});
