import { expect, it } from "vitest";
import type { Schemas } from "../../api/client";
import { originsOf, quoted } from "./origin";

type Entry = Schemas["CatalogueEntryView"];

const main = {
  name: "main",
  image: "zoe/python",
  environment: { HOME: "{workspace}" },
  ends_application: true,
};
const script = {
  id: "python-script",
  script: ".py",
  document: { components: [{ ...main, command: ["python3", "-u", "{workspace}/script.py"] }] },
  form: {
    properties: {
      file: { type: "string", "x-zoe": { settings: [] } },
      memory: { type: "integer", "x-zoe": { settings: ["main.resources.memory"] } },
    },
  },
} as unknown as Entry;
const command = {
  id: "batch",
  document: { components: [{ name: "main", image: "zoe/tiny" }] },
  form: { properties: { command: { type: "string", "x-zoe": { settings: ["main.command"] } } } },
} as unknown as Entry;
const cluster = { ...command, id: "spark", document: { ...command.document, frameworks: [{}] } } as Entry;

it("reads what a form of a script held", () => {
  const description = {
    components: [
      {
        ...main,
        command: ["python3", "-u", "{shared}/a b/{{x}}%.py", "--n", "it's", "{{y}}"],
        environment: {
          HOME: "{workspace}",
          MODE: "{{full}}",
          ZOE_INDEX: "{index}",
          ZOE_SECRETS: "{secrets}",
        },
        requirements: ["pandas", "lightgbm>=4"],
        secrets: [{ name: "db" }, { name: "key", variable: "KEY" }],
        sources: [{ git: "https://x.org/a.git", ref: "v1" }],
        resources: { memory: 1 << 30 },
        total_count: 3,
      },
    ],
  };
  const [found] = originsOf(description, [script, cluster]);
  expect(found?.entry.id).toBe("python-script");
  expect(found?.settings.values).toEqual({
    file: "shared:a b/{x}%25.py",
    arguments: `--n 'it'"'"'s' '{y}'`,
    workers: 3,
    memory: 1 << 30,
  });
  expect(found?.settings.additions).toMatchObject({
    packages: "pandas\nlightgbm>=4",
    variables: "MODE={full}",
    secrets: ["db", "key=KEY"],
    git: "https://x.org/a.git",
    ref: "v1",
    into: "",
  });
});

it("tries no form whose components differ, or whose framework was expanded", () => {
  expect(originsOf({ components: [{ name: "driver" }] }, [script, command, cluster])).toEqual([]);
  const [found, ...others] = originsOf({ components: [{ name: "main", command: ["echo", "a b"] }] }, [
    script,
    command,
  ]);
  expect(found?.settings.values).toEqual({ command: "echo 'a b'" });
  expect(others).toEqual([]);
});

it("quotes words as a shell reads them", () => {
  expect(["a/b.c", "", "a b", "$x"].map(quoted)).toEqual(["a/b.c", "''", "'a b'", "'$x'"]);
});
