import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { api, told } from "../../api/client";
import { useJournal } from "../../api/journal";
import type { Filter } from "./filter";
import { ExecutionTable } from "./table";

const PAGE_ROWS = 500;
const IDS_AT_ONCE = 100;
// Changes are gathered for so long before their rows are read again, however many events there are.
const GATHER_MS = 250;

/** The executions of a filter: pages as they are asked for, changes as they happen. */
export function useExecutions(filter: Filter) {
  const [table, setTable] = useState(() => new ExecutionTable());
  const [cursor, setCursor] = useState<string | null>(null);
  const [since, setSince] = useState<number | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [loading, setLoading] = useState(true);
  const busy = useRef(false);

  useEffect(() => {
    const fresh = new ExecutionTable();
    let current = true;
    setLoading(true);
    setSince(null);
    const load = async () => {
      // The journal's place is asked for before the list: what happens between the two is seen twice, never missed.
      const { journal_id } = await told(api.GET("/api/v1/status"));
      const page = await told(
        api.GET("/api/v1/executions", { params: { query: { ...filter, limit: PAGE_ROWS } } }),
      );
      if (!current) return;
      fresh.merge(page.executions);
      setTable(fresh);
      setCursor(page.next_cursor ?? null);
      setSince(journal_id);
      setProblem(null);
    };
    load()
      .catch((error) => current && setProblem(error))
      .finally(() => current && setLoading(false));
    return () => {
      current = false;
    };
  }, [filter]);

  const loadMore = useCallback(async () => {
    if (cursor === null || busy.current) return;
    busy.current = true;
    try {
      const query = { ...filter, limit: PAGE_ROWS, cursor };
      const page = await told(api.GET("/api/v1/executions", { params: { query } }));
      table.merge(page.executions);
      setCursor(page.next_cursor ?? null);
    } catch (error) {
      setProblem(error);
    }
    busy.current = false;
  }, [cursor, filter, table]);

  const changed = useChanges(table, filter);
  const link = useJournal({ allTenants: filter.all_tenants ?? false, after: since }, (events) => {
    for (const event of events) if (event.execution_id) changed(event.execution_id);
  });
  useSyncExternalStore(table.subscribe, table.getVersion);
  return { table, link, loading, problem, more: cursor !== null, loadMore, changed };
}

/** Tells which executions have changed; their rows are read again, together, a moment later. */
function useChanges(table: ExecutionTable, filter: Filter): (id: string) => void {
  const ids = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  // A new table begins with nothing to read again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the table itself is not read
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
      ids.current.clear();
    },
    [table],
  );
  return useCallback(
    (id: string) => {
      ids.current.add(id);
      timer.current ??= setTimeout(() => {
        timer.current = null;
        const changed = [...ids.current];
        ids.current.clear();
        void readAgain(table, filter, changed);
      }, GATHER_MS);
    },
    [table, filter],
  );
}

async function readAgain(table: ExecutionTable, filter: Filter, changed: string[]): Promise<void> {
  for (let start = 0; start < changed.length; start += IDS_AT_ONCE) {
    const ids = changed.slice(start, start + IDS_AT_ONCE);
    try {
      const query = { ...filter, id: ids, limit: IDS_AT_ONCE };
      const { executions } = await told(api.GET("/api/v1/executions", { params: { query } }));
      const there = new Set(executions.map((row) => row.id));
      table.merge(executions);
      table.remove(ids.filter((id) => !there.has(id)));
    } catch {
      // The rows stay as they were; the next event of each tells again.
    }
  }
}
