import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../../../api/client";
import { Dialog } from "../../../components/dialog";
import { ErrorBox, Loading, ProblemBox } from "../../../components/feedback";
import { useLongList } from "../../../components/long-list";
import { ListFilter, ListMore } from "../../../components/long-list-parts";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { num, Table } from "../../../components/table";
import { duration, moment } from "../../../format";
import { type Controller, conditionText, MODES, type Mode, stepOf, warningsOf } from "./modes";
import { Proxies } from "./proxies";
import { CONTROLLERS, useControllers } from "./queries";
import { Switches } from "./switches";

interface Wanted {
  name: string;
  mode: Mode;
}

/** The loops from metrics to the store: what each does, whether it is on, and what it did last. */
export function ControllersPart() {
  const queries = useQueryClient();
  const controllers = useControllers();
  const [asked, setAsked] = useState<Wanted | null>(null);
  const change = useOneAtATime({
    mutationFn: ({ name, mode }: Wanted) =>
      told(api.PUT("/api/v1/storage/controllers/{name}", { params: { path: { name } }, body: { mode } })),
    onSuccess: () => setAsked(null),
    onSettled: () =>
      Promise.all(
        [CONTROLLERS, ["storage-rules"]].map((queryKey) => queries.invalidateQueries({ queryKey })),
      ),
  });
  const list = useLongList(controllers.data?.controllers ?? [], (one) => `${one.name} ${one.what}`);
  if (controllers.isLoading) return <Loading what="Loading the controllers" />;
  if (controllers.error) return <ErrorBox error={controllers.error} />;
  if (!controllers.data) return null;
  const set = (wanted: Wanted) => (stepOf(wanted) ? setAsked(wanted) : change.mutate(wanted));
  return (
    <>
      {warningsOf(controllers.data.controllers).map((text) => (
        <ProblemBox key={text} title={text} />
      ))}
      {!asked && <ErrorBox error={change.error} />}
      <section className="card" aria-label="Controllers">
        <ListFilter list={list} label="Filter controllers" />
        <Table
          headings={["Controller", "Mode", "Condition", "What it did last", num("Failures"), "Switches"]}
        >
          {list.shown.map((one) => (
            <Row key={one.name} controller={one} busy={change.isPending} onMode={set} />
          ))}
        </Table>
        <ListMore list={list} />
      </section>
      <Proxies proxies={controllers.data.proxies} />
      {asked && (
        <Dialog
          title={`Set ${asked.name} to ${MODES[asked.mode].toLowerCase()}?`}
          onClose={() => setAsked(null)}
        >
          <p>{stepOf(asked)}</p>
          <ErrorBox error={change.error} />
          <div className="row">
            <button
              type="button"
              className="danger"
              disabled={change.isPending}
              onClick={() => change.mutate(asked)}
            >
              {MODES[asked.mode]}
            </button>
            <button type="button" onClick={() => setAsked(null)}>
              Leave it as it is
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

interface RowProps {
  controller: Controller;
  busy: boolean;
  onMode: (wanted: Wanted) => void;
}

function Row({ controller, busy, onMode }: RowProps) {
  const { name, what, mode, last, last_s: lastS, runs, failures, problem, waits_s: waitsS } = controller;
  return (
    <tr>
      <td className="long">
        <strong>{name}</strong>
        <div className="faint">{what}</div>
      </td>
      <td>
        <fieldset className="tags" aria-label={`Mode of ${name}`}>
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <button
              key={one}
              type="button"
              className="tag"
              aria-pressed={one === mode}
              disabled={busy}
              onClick={() => one !== mode && onMode({ name, mode: one })}
            >
              {MODES[one]}
            </button>
          ))}
        </fieldset>
      </td>
      <td>{conditionText(controller)}</td>
      <td className="long">
        {last === "" ? <span className="faint">nothing yet</span> : last}
        {lastS != null && <div className="faint">{moment(lastS)}</div>}
        {problem && (
          <div>
            <span className="badge bad">failed</span> {problem}
            {waitsS > 0 && `; it begins again in ${duration(waitsS)}`}
          </div>
        )}
      </td>
      <td className="num">
        {failures} of {runs + failures}
      </td>
      <td>{controller.kind === "rule" && <Switches name={name} />}</td>
    </tr>
  );
}
