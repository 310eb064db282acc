import { useCallback, useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useMay, useSession } from "../../api/session";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { cancelAll } from "./cancelling";
import { readFilter, writeFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { Grid } from "./grid";
import { useExecutions } from "./loading";

export default function ExecutionsPage() {
  const [query, setQuery] = useSearchParams();
  const text = query.toString();
  const filter = useMemo(() => readFilter(new URLSearchParams(text)), [text]);
  const { table, link, loading, problem, more, loadMore, changed } = useExecutions(filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [cancelProblem, setCancelProblem] = useState<unknown>(null);
  const maySubmit = useMay("submit");
  const { tenant } = useSession();

  const select = useCallback((id: string, chosen: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      if (chosen) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);
  const cancelSelected = async () => {
    const ids = [...selected].filter((id) => table.rows.has(id));
    if (!window.confirm(`Cancel ${ids.length} executions?`)) return;
    setCancelProblem(await cancelAll(ids, changed));
    setSelected(new Set());
  };

  return (
    <>
      <div className="spread">
        <h1>Executions{filter.all_tenants ? " of all tenants" : ` of ${tenant}`}</h1>
        <div className="row">
          <span className={`live ${link === "live" ? "on" : ""}`} role="status">
            {link === "live" ? "live" : link === "away" ? "no connection, retrying" : "connecting"}
          </span>
          {maySubmit && (
            <button
              type="button"
              className="danger"
              disabled={selected.size === 0}
              onClick={() => void cancelSelected()}
            >
              Cancel {selected.size > 0 ? selected.size : ""}
            </button>
          )}
          {maySubmit && (
            <Link className="button primary" to="/catalogue">
              Launch
            </Link>
          )}
        </div>
      </div>
      <FilterBar filter={filter} onChange={(next) => setQuery(writeFilter(next), { replace: true })} />
      <ErrorBox error={problem} />
      <ErrorBox error={cancelProblem} />
      {loading && <Loading what="Reading the list" />}
      {!loading && table.ids.length === 0 ? (
        <Empty>
          <p>Nothing here{text ? " for this filter" : " yet"}.</p>
          <Link to="/catalogue">Launch something from the catalogue</Link>
        </Empty>
      ) : (
        <>
          <Grid table={table} selected={selected} onSelect={select} selectable={maySubmit} onEnd={loadMore} />
          <p className="faint" role="status">
            {table.ids.length.toLocaleString("en")} {more ? "loaded, more as you scroll" : "in all"}
          </p>
        </>
      )}
    </>
  );
}
