import { describe, expect, it } from "vitest";
import { ExecutionTable, type Summary } from "./table";

function row(id: string, submittedAtS: number, version = 1): Summary {
  return { id, submitted_at_s: submittedAtS, version, name: `${id}-${version}` } as Summary;
}

describe("ExecutionTable", () => {
  it("keeps the newest first, whatever order rows come in", () => {
    const table = new ExecutionTable();
    table.merge([row("b", 2), row("a", 1)]);
    table.merge([row("c", 3)]);
    table.merge([row("z", 0), row("b2", 2)]);
    expect(table.ids).toEqual(["c", "b2", "b", "a", "z"]);
  });

  it("never puts an older version in place of a newer one", () => {
    const table = new ExecutionTable();
    table.merge([row("a", 1, 5)]);
    table.merge([row("a", 1, 4)]);
    expect(table.rows.get("a")?.version).toBe(5);
    table.merge([row("a", 1, 6)]);
    expect(table.rows.get("a")?.version).toBe(6);
    expect(table.ids).toEqual(["a"]);
  });

  it("tells its listeners of each change, and of nothing else", () => {
    const table = new ExecutionTable();
    let told = 0;
    const stop = table.subscribe(() => {
      told += 1;
    });
    table.merge([row("a", 1)]);
    table.remove(["unknown"]);
    table.remove(["a"]);
    expect(told).toBe(2);
    stop();
    table.merge([row("a", 1)]);
    expect(told).toBe(2);
    expect(table.version).toBe(3);
  });
});
