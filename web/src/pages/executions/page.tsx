import { useMutation } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useOutage } from "../../api/outage";
import { useMay, useSession } from "../../api/session";
import { CancelDialog } from "../../components/cancel-dialog";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { Load } from "../../components/load";
import { Arrays } from "../arrays/list";
import { cancelAll } from "./cancelling";
import { readFilter, writeFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { Grid } from "./grid";
import { useExecutions } from "./loading";
import type { Summary } from "./table";

export default function ExecutionsPage() {
  const [query, setQuery] = useSearchParams();
  const text = query.toString();
  const filter = useMemo(() => readFilter(new URLSearchParams(text)), [text]);
  const { table, link, loading, problem, more, loadMore, changed } = useExecutions(filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [cancelProblem, setCancelProblem] = useState<unknown>(null);
  const maySubmit = useMay("submit");
  const { tenant } = useSession();
  const away = useOutage();

  const select = useCallback((id: string, chosen: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      if (chosen) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);
  const [asking, setAsking] = useState<Summary[] | null>(null);
  const ask = () => setAsking([...selected].flatMap((id) => table.rows.get(id) ?? []));
  const cancel = useMutation({
    mutationFn: (rows: Summary[]) =>
      cancelAll(
        rows.map((row) => row.id),
        changed,
      ),
    onSuccess: (problem) => {
      setCancelProblem(problem);
      setSelected(new Set());
      setAsking(null);
    },
  });

  return (
    <>
      <div className="spread">
        <h1>Executions{filter.all_tenants ? " of all tenants" : ` of ${tenant}`}</h1>
        <div className="row">
          <span className={`live ${link === "live" && !away ? "on" : ""}`} role="status">
            {away || link === "away" ? "no connection, retrying" : link === "live" ? "live" : "connecting"}
          </span>
          {maySubmit && (
            <button type="button" className="danger" disabled={selected.size === 0} onClick={ask}>
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
      {asking && asking.length > 0 && (
        <CancelDialog
          names={asking.map((row) => row.name)}
          busy={cancel.isPending}
          onCancel={() => cancel.mutate(asking)}
          onClose={() => setAsking(null)}
        />
      )}
      <Load />
      <FilterBar filter={filter} onChange={(next) => setQuery(writeFilter(next), { replace: true })} />
      <Arrays filter={filter} refused={problem !== null} />
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
