import { expect, test } from "vitest";
import { NO_METRIC, placeOf, programOf, wantedMetric } from "./wanted-metric";

const UP = { ...NO_METRIC, name: " load ", expression: " up " };

test("a metric says what the fields say", () => {
  expect(wantedMetric(UP)).toEqual({
    name: "load",
    body: { expression: "up", tenant_label: "tenant", container_label: "container" },
  });
  expect(wantedMetric({ ...UP, tenantLabel: "project" })).toMatchObject({
    body: { tenant_label: "project" },
  });
  // What was typed for the other kind is not sent.
  const program = wantedMetric({ ...UP, kind: "program", program: "class Metric:\n    pass\n" });
  expect(program).toMatchObject({ name: "load", body: { program: "class Metric:\n    pass\n" } });
  expect(program).not.toHaveProperty("body.expression");
});

test("what is no metric has a reason", () => {
  for (const name of ["", "a b", "1a", "a-b"])
    expect(wantedMetric({ ...UP, name })).toContain("A name has letters");
  expect(wantedMetric({ ...UP, expression: " " })).toBe("Write an expression.");
  expect(wantedMetric({ ...UP, kind: "program" })).toBe("Write or choose a program.");
  expect(wantedMetric({ ...UP, containerLabel: "a b" })).toContain("labels");
});

test("a program is read from a file, and what is none has a sentence", async () => {
  expect(await programOf(new File(["class Metric: ..."], "a.py"))).toBe("class Metric: ...");
  await expect(programOf(new File([new Uint8Array([255])], "a.py"))).rejects.toThrow(
    "a.py is not text in UTF-8",
  );
  await expect(programOf(new File([" ".repeat(65_537)], "a.py"))).rejects.toThrow("65537 bytes");
});

test("a place is a container, a tenant or all", () => {
  expect(placeOf({ tenant: "acme", container: "docs", value: 1 })).toBe("acme/docs");
  expect(placeOf({ tenant: "acme", container: null, value: 1 })).toBe("acme");
  expect(placeOf({ tenant: null, container: null, value: 1 })).toBe("all");
});
