import { expect, it } from "vitest";
import {
  literal,
  mainComponent,
  NO_ADDITIONS,
  packagesOf,
  readAdditions,
  secretOf,
  variablesOf,
  withAdditions,
  writeAdditions,
  wrongVariables,
} from "./additions";

const ALL = {
  packages: "pandas\nlightgbm>=4",
  variables: "MODE=full",
  git: "https://x.org/a.git",
  ref: "v1",
  into: "b",
  gitSecret: "key",
  secrets: ["db", "wandb=WANDB_KEY", "hf"],
};
const notebook = { name: "notebook", ports: [{ proxied: true }], secrets: [{ name: "db" }] };
const document = { version: 4, components: [{ name: "helper" }, notebook] };

it("keeps the additions in the address", () => {
  const query = new URLSearchParams("memory=1");
  writeAdditions(query, ALL);
  expect(readAdditions(query)).toEqual(ALL);
  const without = new URLSearchParams();
  const none = { ...ALL, packages: "", variables: " ", secrets: [] };
  writeAdditions(without, { ...none, git: "" });
  expect(String(without)).toBe("");
  writeAdditions(without, { ...none, git: "https://me:hidden@x.org/a.git" });
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

it("adds packages, variables, a repository and secrets to it", () => {
  const { components } = withAdditions(document, ALL) as { components: unknown[] };
  expect(components[0]).toEqual({ name: "helper" });
  expect(components[1]).toMatchObject({
    requirements: ["pandas", "lightgbm>=4"],
    environment: { MODE: "full", ZOE_SECRETS: "{secrets}" },
    secrets: [{ name: "db" }, { name: "wandb", variable: "WANDB_KEY" }, { name: "hf" }],
    sources: [{ git: "https://x.org/a.git", ref: "v1", into: "b", secret: "key" }],
  });
  expect(withAdditions(document, NO_ADDITIONS)).toEqual(document);
});

it("reads packages as pip does, and variables with all that is behind the first =", () => {
  expect(packagesOf("# mine\npandas==2 # pinned\n\n x#y \n")).toEqual(["pandas==2", "x#y"]);
  expect(variablesOf("A=b=c\n\n B = d")).toEqual({ A: "b=c", B: " d" });
  expect(variablesOf("A\n=b\nC=1")).toEqual({ C: "1" });
  expect(wrongVariables("A=1\n\nno\n1A=2").map((one) => one.pointer)).toEqual([
    "/variables/line 3",
    "/variables/line 4",
  ]);
});

it("keeps values as they are typed, but for the index of an array", () => {
  expect(literal("{a}{index}", true)).toBe("{{a}}{index}");
  expect(literal("{index}", false)).toBe("{{index}}");
});

it("reads a secret as a file or as a variable", () => {
  expect(["db", "db=", "db=KEY "].map(secretOf)).toEqual([
    { name: "db" },
    { name: "db" },
    { name: "db", variable: "KEY" },
  ]);
});
