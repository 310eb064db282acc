import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useOutage } from "../../api/outage";
import { useMay, useSession } from "../../api/session";
import { CancelDialog } from "../../components/cancel-dialog";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { Load } from "../../components/load";
import { isArray } from "../arrays/ids";
import { Arrays } from "../arrays/list";
import { type Action, actOnAll } from "./acting";
import { readFilter, writeFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { Grid } from "./grid";
import { useExecutions } from "./loading";

export default function ExecutionsPage() {
  const [query, setQuery] = useSearchParams();
  const text = query.toString();
  const filter = useMemo(() => readFilter(new URLSearchParams(text)), [text]);
  const { table, link, loading, problem, more, loadMore, changed } = useExecutions(filter);
  // The names of what is chosen, by id.
  const [selected, setSelected] = useState<ReadonlyMap<string, string>>(new Map());
  const [problemOfAction, setProblemOfAction] = useState<unknown>(null);
  const maySubmit = useMay("submit");
  const { tenant } = useSession();
  const away = useOutage();

  const queries = useQueryClient();
  const select = useCallback((id: string, chosen: boolean, name: string) => {
    setSelected((before) => {
      const after = new Map(before);
      if (chosen) after.set(id, name);
      else after.delete(id);
      return after;
    });
  }, []);
  const [asking, setAsking] = useState(false);
  const act = useMutation({
    mutationFn: (action: Action) =>
      actOnAll(action, [...selected.keys()], (id) => {
        if (!isArray(id)) changed(id);
      }),
    onSuccess: (problem) => {
      setProblemOfAction(problem);
      setSelected(new Map());
      setAsking(false);
      void queries.invalidateQueries({ queryKey: ["arrays"] });
    },
  });
  const withArrays = [...selected.keys()].some(isArray);

  return (
    <>
      <div className="spread">
        <h1>Executions{filter.all_tenants ? " of all tenants" : ` of ${tenant}`}</h1>
        <div className="row">
          <span className={`live ${link === "live" && !away ? "on" : ""}`} role="status">
            {away || link === "away" ? "no connection, retrying" : link === "live" ? "live" : "connecting"}
          </span>
          {maySubmit && (
            <>
              {(["hold", "release"] as const).map((action) => (
                <button
                  key={action}
                  type="button"
                  disabled={selected.size === 0 || act.isPending}
                  onClick={() => act.mutate(action)}
                >
                  {action === "hold" ? "Hold" : "Release"} {selected.size > 0 ? selected.size : ""}
                </button>
              ))}
              <button
                type="button"
                className="danger"
                disabled={selected.size === 0 || act.isPending}
                onClick={() => setAsking(true)}
              >
                Cancel {selected.size > 0 ? selected.size : ""}
              </button>
            </>
          )}
          {maySubmit && (
            <Link className="button primary" to="/catalogue">
              Launch
            </Link>
          )}
        </div>
      </div>
      {asking && selected.size > 0 && (
        <CancelDialog
          names={[...selected.values()]}
          noun={withArrays ? "array" : "execution"}
          several={withArrays ? "executions and arrays" : "executions"}
          busy={act.isPending}
          onCancel={() => act.mutate("cancel")}
          onClose={() => setAsking(false)}
        />
      )}
      <Load />
      <FilterBar filter={filter} onChange={(next) => setQuery(writeFilter(next), { replace: true })} />
      <Arrays
        filter={filter}
        refused={problem !== null}
        selected={selected}
        onSelect={select}
        selectable={maySubmit}
      />
      <ErrorBox error={problem} />
      <ErrorBox error={problemOfAction} />
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
