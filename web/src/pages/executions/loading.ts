import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { api, told } from "../../api/client";
import { useJournal } from "../../api/journal";
import { Changes } from "./changes";
import type { Filter } from "./filter";
import { ExecutionTable } from "./table";

const PAGE_ROWS = 500;

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

/** Tells which executions have changed; their rows are read again. */
function useChanges(table: ExecutionTable, filter: Filter): (id: string) => void {
  const changes = useRef<Changes | null>(null);
  useEffect(() => {
    const made = new Changes((ids) => readAgain(table, filter, ids));
    changes.current = made;
    return () => made.stop();
  }, [table, filter]);
  return useCallback((id: string) => changes.current?.add(id), []);
}

async function readAgain(table: ExecutionTable, filter: Filter, ids: string[]): Promise<void> {
  const query = { ...filter, id: ids, limit: ids.length };
  const { executions } = await told(api.GET("/api/v1/executions", { params: { query } }));
  const there = new Set(executions.map((row) => row.id));
  table.merge(executions);
  table.remove(ids.filter((id) => !there.has(id)));
}
