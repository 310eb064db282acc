import { expect, it } from "vitest";
import { mainComponent, NO_ADDITIONS, readAdditions, withAdditions, writeAdditions } from "./additions";

const ALL = { git: "https://x.org/a.git", ref: "v1", into: "b", gitSecret: "key", secrets: ["db", "wandb"] };
const notebook = { name: "notebook", ports: [{ proxied: true }], secrets: [{ name: "db" }] };
const document = { version: 4, components: [{ name: "helper" }, notebook] };

it("keeps the additions in the address", () => {
  const query = new URLSearchParams("memory=1");
  writeAdditions(query, ALL);
  expect(readAdditions(query)).toEqual(ALL);
  const without = new URLSearchParams();
  writeAdditions(without, { ...ALL, git: "", secrets: [] });
  expect(String(without)).toBe("");
  writeAdditions(without, { ...ALL, git: "https://me:hidden@x.org/a.git", secrets: [] });
  expect(String(without)).toBe("");
  writeAdditions(without, { ...ALL, git: "ssh://git@x.org:22/a.git" });
  expect(readAdditions(without).git).toBe("ssh://git@x.org:22/a.git");
});

it.each([
  [[{ name: "a" }, { name: "b", ends_application: true }], "b"],
  [[{ name: "a" }, notebook], "notebook"],
  [[{ name: "a" }, { name: "b" }], "a"],
  [undefined, null],
])("finds the component that they are for in %j", (components, name) => {
  expect(mainComponent({ components })).toBe(name);
});

it("adds a repository and secrets to it", () => {
  const { components } = withAdditions(document, ALL) as { components: unknown[] };
  expect(components[0]).toEqual({ name: "helper" });
  expect(components[1]).toMatchObject({
    secrets: [{ name: "db" }, { name: "wandb" }],
    sources: [{ git: "https://x.org/a.git", ref: "v1", into: "b", secret: "key" }],
  });
  expect(withAdditions(document, NO_ADDITIONS)).toEqual(document);
});
