import "../testing/browser";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fetchSignedIn, PROOF_HEADER, SESSION_CHANGED, signedIn } from "./client";
import { forgetProof, keepProof } from "./proof";

/** The proof of each request, and whether it changes something. */
let asked: string[];
/** The proof of the session whose cookie the browser has. */
let there: string;
let kept: Map<string, string>;

beforeEach(() => {
  asked = [];
  kept = new Map();
  const localStorage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  };
  vi.stubGlobal("window", { localStorage });
  vi.stubGlobal("fetch", async (request: Request) => {
    const given = request.headers.get(PROOF_HEADER) ?? "";
    asked.push(`${request.method} ${given}`);
    return given === there
      ? Response.json({})
      : Response.json({ title: "", code: "csrf_token_missing" }, { status: 403 });
  });
  there = "first";
  signedIn.whose = "ada in blue";
  signedIn.renew = () => Promise.reject(new Error("nothing is to be renewed"));
  keepProof("first");
});
afterEach(() => {
  forgetProof();
  signedIn.renew = null;
  vi.unstubAllGlobals();
});

/** Another tab began another session. */
function replaced(): void {
  there = "second";
  for (const key of kept.keys()) kept.set(key, "second");
}

/** As the page does when its user says how to go on. */
function goOn(whose: string): () => Promise<void> {
  return async () => {
    keepProof("second");
    signedIn.whose = whose;
  };
}

const change = () => fetchSignedIn(new Request("/api/v1/executions", { method: "POST", body: "{}" }));
const read = () => fetchSignedIn(new Request("/api/v1/executions"));

it("acts in the session that the page knows", async () => {
  expect((await change()).status).toBe(200);
  expect((await read()).status).toBe(200);
  expect(asked).toEqual(["POST first", "GET first"]);
});

it.each([change, read])(
  "does not act in a session of another tenant, which another tab began",
  async (ask) => {
    replaced();
    signedIn.renew = goOn("ada in red");
    await expect(ask()).rejects.toMatchObject({ code: SESSION_CHANGED });
    expect(asked.map((one) => one.split(" ")[1])).toEqual(["first"]);
  },
);

it("goes on in another session of the same user and tenant", async () => {
  replaced();
  signedIn.renew = goOn("ada in blue");
  expect((await change()).status).toBe(200);
  expect(asked).toEqual(["POST first", "POST second"]);
});

it("renews a session once for all that was under way", async () => {
  replaced();
  let renewed = 0;
  signedIn.renew = async () => {
    renewed += 1;
    await goOn("ada in blue")();
  };
  const first = await change();
  const late = await Promise.all([change(), read()]);
  expect([first, ...late].map((one) => one.status)).toEqual([200, 200, 200]);
  expect(renewed).toBe(1);
});
