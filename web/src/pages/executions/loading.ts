import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useJournal } from "../../api/journal";
import { ofReading } from "../../api/outage";
import { ASK_AGAIN_MS, passes } from "../../api/problem";
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
    let again: number | undefined;
    const read = () =>
      fresh
        .load()
        .then(() => {
          if (!current) return;
          setList(fresh);
          setProblem(null);
        })
        .catch((error) => {
          if (!current) return;
          ofReading(error);
          setProblem(error);
          if (passes(error)) again = window.setTimeout(read, ASK_AGAIN_MS);
        })
        .finally(() => current && setLoading(false));
    setLoading(true);
    read();
    return () => {
      current = false;
      window.clearTimeout(again);
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
