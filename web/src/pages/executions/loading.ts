import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useJournal } from "../../api/journal";
import type { Filter } from "./filter";
import { ExecutionList } from "./list";

/** The executions of a filter: pages as they are asked for, changes as they happen. */
export function useExecutions(filter: Filter) {
  const [list, setList] = useState(() => new ExecutionList(filter));
  const [problem, setProblem] = useState<unknown>(null);
  const [loading, setLoading] = useState(true);

  useEffect(() => {
    const fresh = new ExecutionList(filter);
    let current = true;
    setLoading(true);
    fresh
      .load()
      .then(() => {
        if (!current) return;
        setList(fresh);
        setProblem(null);
      })
      .catch((error) => current && setProblem(error))
      .finally(() => current && setLoading(false));
    return () => {
      current = false;
    };
  }, [filter]);
  useEffect(() => () => list.changes.stop(), [list]);

  const loadMore = useCallback(() => void list.loadMore().catch(setProblem), [list]);
  const changed = useCallback((id: string) => list.changes.add(id), [list]);
  const link = useJournal(
    { allTenants: list.filter.all_tenants ?? false, after: loading ? null : list.since },
    (events) => {
      for (const event of events) if (event.execution_id) changed(event.execution_id);
    },
  );
  useSyncExternalStore(list.table.subscribe, list.table.getVersion);
  return { table: list.table, link, loading, problem, more: list.more, loadMore, changed };
}
