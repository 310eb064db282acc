import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { useSending } from "../../api/submission";
import { ErrorBox } from "../../components/feedback";
import { Control, FieldErrors, FieldMessages } from "../../components/field-errors";
import { EntryIcon } from "../catalogue/icons";
import { checkForm, putSchedule } from "../catalogue/launching";
import { useCatalogue } from "../catalogue/page";
import { NO_TIMING, TIMING_LABELS, type Timing } from "../catalogue/timing";
import { TimingForm } from "../catalogue/timing-form";

const LABELS = { ...TIMING_LABELS, application: "Application" };
const NOT_CHOSEN = { pointer: "/application", code: "missing", message: "choose one", hint: "" };

/** What a schedule can run: an application of the catalogue, a workflow, or a stored application. */
export default function NewSchedulePage() {
  const { data, error } = useCatalogue();
  const batch = (data?.entries ?? []).filter(
    (entry) => entry.document.kind !== "interactive" && !entry.unavailable,
  );
  return (
    <>
      <h1>New schedule</h1>
      <p>Choose what to run. The next form asks for the times.</p>
      <ErrorBox error={error} />
      <ul className="tiles">
        {batch.map((entry) => (
          <li key={entry.id}>
            <Link className="tile" to={`/catalogue/${entry.id}?_when=daily`}>
              <span className="tile-head">
                <EntryIcon name={entry.icon} />
                <strong>{entry.title}</strong>
              </span>
              <span>{entry.summary}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link className="tile" to="/workflows/new?_when=daily">
            <span className="tile-head">
              <EntryIcon name="nodes" />
              <strong>Workflow</strong>
            </span>
            <span>Several steps after each other.</span>
          </Link>
        </li>
      </ul>
      <p />
      <OfStored />
    </>
  );
}

function OfStored() {
  const [application, setApplication] = useState("");
  const [timing, setTiming] = useState<Timing>({ ...NO_TIMING, when: "daily" });
  const { data, error } = useQuery({
    queryKey: ["stored-applications"],
    queryFn: () => told(api.GET("/api/v1/applications")),
  });
  const names = [...new Set((data?.applications ?? []).map((one) => one.name))];
  const add = useSending(async () => {
    checkForm(timing, application === "" ? [NOT_CHOSEN] : []);
    return putSchedule(timing, { application });
  });
  if (names.length === 0) return <ErrorBox error={error} />;
  return (
    <FieldErrors error={add.error} labels={LABELS}>
      <section className="card" aria-label="A stored application">
        <h2>A stored application</h2>
        <div className="field">
          <label htmlFor="stored">Application</label>
          <Control field="application">
            <select id="stored" value={application} onChange={(e) => setApplication(e.target.value)}>
              <option value="">choose one</option>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Control>
          <FieldMessages field="application" />
        </div>
        <TimingForm timing={timing} onChange={setTiming} once={false} now={false} />
        <ErrorBox error={add.error} />
        <button type="button" className="primary" disabled={add.busy} onClick={add.submit}>
          Add the schedule
        </button>
      </section>
    </FieldErrors>
  );
}
