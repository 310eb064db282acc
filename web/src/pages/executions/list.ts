import { api, told } from "../../api/client";
import { Changes } from "./changes";
import type { Filter } from "./filter";
import { ExecutionTable } from "./table";

const PAGE_ROWS = 500;

/** The executions of one filter, as far as they are loaded. Another filter has another list: answers never mix. */
export class ExecutionList {
  readonly table = new ExecutionTable();
  readonly changes = new Changes((ids) => this.readAgain(ids));
  /** The journal's id after which changes are news; null before it is loaded. */
  since: number | null = null;
  private cursor: string | null = null;
  private busy = false;

  constructor(readonly filter: Filter) {}

  /** Whether there are more than are loaded. */
  get more(): boolean {
    return this.cursor !== null;
  }

  async load(): Promise<void> {
    // The journal's place is asked for before the list: what happens between the two is seen twice, never missed.
    const { journal_id } = await told(api.GET("/api/v1/status"));
    await this.loadPage();
    this.since = journal_id;
  }

  async loadMore(): Promise<void> {
    if (this.cursor === null || this.busy) return;
    this.busy = true;
    try {
      await this.loadPage(this.cursor);
    } finally {
      this.busy = false;
    }
  }

  /** A search by name may have looked through its share and found nothing yet: it goes on until there is a row. */
  private async loadPage(cursor?: string): Promise<void> {
    const query = {
      ...this.filter,
      arrays: false,
      limit: PAGE_ROWS,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await told(api.GET("/api/v1/executions", { params: { query } }));
    this.cursor = page.next_cursor ?? null;
    this.table.merge(page.executions);
    if (page.executions.length === 0 && this.cursor !== null) await this.loadPage(this.cursor);
  }

  private async readAgain(ids: string[]): Promise<void> {
    const query = { ...this.filter, arrays: false, id: ids, limit: ids.length };
    const { executions } = await told(api.GET("/api/v1/executions", { params: { query } }));
    const there = new Set(executions.map((row) => row.id));
    this.table.merge(executions);
    this.table.remove(ids.filter((id) => !there.has(id)));
  }
}
