import type { Schemas } from "../../api/client";

export type Summary = Schemas["ExecutionSummary"];

/**
 * The loaded executions, newest first, as one mutable store: with 100,000 rows a change costs the rows it changes and
 * not all. React reads it by `version`, which grows with each change.
 */
export class ExecutionTable {
  readonly rows = new Map<string, Summary>();
  ids: string[] = [];
  version = 0;
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getVersion = (): number => this.version;

  /** Puts rows in or renews them; an older version never replaces a newer one. */
  merge(rows: Summary[]): void {
    const added: Summary[] = [];
    for (const row of rows) {
      const known = this.rows.get(row.id);
      if (known === undefined) added.push(row);
      if (known === undefined || known.version <= row.version) this.rows.set(row.id, row);
    }
    if (added.length > 0) this.place(added);
    this.tell();
  }

  remove(ids: Iterable<string>): void {
    const gone = new Set<string>();
    for (const id of ids) if (this.rows.delete(id)) gone.add(id);
    if (gone.size === 0) return;
    this.ids = this.ids.filter((id) => !gone.has(id));
    this.tell();
  }

  /** Older pages go to the end and newcomers to the front; what belongs between is merged in. */
  private place(added: Summary[]): void {
    added.sort(newestFirst);
    const ids = added.map((row) => row.id);
    const first = this.rows.get(this.ids[0] ?? "");
    const last = this.rows.get(this.ids[this.ids.length - 1] ?? "");
    const newest = added[0] as Summary;
    const oldest = added[added.length - 1] as Summary;
    if (first === undefined || last === undefined) this.ids = ids;
    else if (newestFirst(last, newest) < 0) this.ids = this.ids.concat(ids);
    else if (newestFirst(oldest, first) < 0) this.ids = ids.concat(this.ids);
    else this.ids = this.merged(added);
  }

  private merged(added: Summary[]): string[] {
    const ids: string[] = [];
    let next = 0;
    for (const id of this.ids) {
      const row = this.rows.get(id) as Summary;
      for (; next < added.length && newestFirst(added[next] as Summary, row) < 0; next += 1) {
        ids.push((added[next] as Summary).id);
      }
      ids.push(id);
    }
    return ids.concat(added.slice(next).map((row) => row.id));
  }

  private tell(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}

function newestFirst(a: Summary, b: Summary): number {
  return b.submitted_at_s - a.submitted_at_s || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
