import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { Refused } from "../../api/problem";
import { useSending } from "../../api/submission";
import { ErrorBox, Loading, NoPage } from "../../components/feedback";
import { Control, FieldErrors, FieldMessages } from "../../components/field-errors";
import { parseJson } from "../../components/json";
import { formOf } from "../catalogue/form-of";
import { changeSchedule, checkForm } from "../catalogue/launching";
import { useCatalogue } from "../catalogue/page";
import { expressionOf, TIMING_LABELS, timingOf } from "../catalogue/timing";
import { TimingForm } from "../catalogue/timing-form";

const JsonEditor = lazy(() => import("../catalogue/json-editor"));

type Schedule = Schemas["ScheduleDetail"];

const LABELS = {
  ...TIMING_LABELS,
  application: "Application",
  parameters: "Parameters",
  document: "What it runs",
};

/** Changes when a schedule runs, and what. */
export default function EditSchedulePage() {
  const { name = "" } = useParams();
  const { data, error } = useQuery({
    queryKey: ["schedules", name, "edit"],
    queryFn: () => told(api.GET("/api/v1/schedules/{name}", { params: { path: { name } } })),
    // What is being edited is not changed under its editor's hands.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <NoPage title={`Schedule ${name}`} error={error} />;
  if (!data) return <Loading what="Reading the schedule" />;
  return <Edit key={data.name} schedule={data} />;
}

function Edit({ schedule }: { schedule: Schedule }) {
  const { name, application, zone } = schedule;
  const [timing, setTiming] = useState(() => timingOf(schedule.expression, name));
  const [stored, setStored] = useState(application ?? "");
  const begun = JSON.stringify(application === null ? schedule.document : schedule.parameters, null, 2);
  const [text, setText] = useState(begun);
  const change = useSending(async () => {
    checkForm(timing);
    const what = parsed(text, application === null ? "/document" : "/parameters");
    const runs = application === null ? { document: what } : { application: stored, parameters: what };
    const same = text === begun && stored === (application ?? "");
    return changeSchedule(name, { expression: expressionOf(timing), ...(same ? {} : runs) });
  });
  return (
    <FieldErrors error={change.error} labels={LABELS}>
      <h1>Change the schedule {name}</h1>
      <section className="card" aria-label="When">
        <TimingForm timing={timing} onChange={setTiming} once={false} now={false} of={zone} />
      </section>
      <section className="card" aria-label="What it runs">
        <h2>What it runs</h2>
        {application === null && <ByForm schedule={schedule} />}
        {application !== null && <Stored chosen={stored} onChoose={setStored} />}
        <p className="faint">{application === null ? "As JSON:" : "Values of its parameters, as JSON:"}</p>
        <Control field={application === null ? "document" : "parameters"}>
          <fieldset>
            <legend className="sr">As JSON</legend>
            <Suspense fallback={<Loading what="Loading the editor" />}>
              <JsonEditor text={text} onChange={setText} findings={[]} />
            </Suspense>
          </fieldset>
        </Control>
        <FieldMessages field={application === null ? "document" : "parameters"} />
      </section>
      <ErrorBox error={change.error} />
      <div className="row">
        <button type="button" className="primary" disabled={change.busy} onClick={change.submit}>
          Change the schedule
        </button>
        <Link className="button" to={`/schedules?open=${encodeURIComponent(name)}`}>
          Leave it as it is
        </Link>
      </div>
    </FieldErrors>
  );
}

/** The way to the form that makes what it runs, if one does. */
function ByForm({ schedule }: { schedule: Schedule }) {
  const { data: catalogue } = useCatalogue();
  const { data: address } = useQuery({
    queryKey: ["form of schedule", schedule.name, schedule.document],
    queryFn: () => addressOf(schedule, catalogue?.entries ?? []),
    enabled: catalogue !== undefined,
    retry: false,
  });
  return address ? (
    <p>
      <Link className="button" to={address}>
        Change it in its form
      </Link>
    </p>
  ) : null;
}

async function addressOf(
  schedule: Schedule,
  entries: Schemas["CatalogueEntryView"][],
): Promise<string | null> {
  const made = {
    id: schedule.name,
    name: schedule.run_name ?? "",
    description: schedule.document ?? {},
    indices: schedule.indices ?? "",
    hidden: [],
  };
  const change = { deadline: schedule.deadline ?? "", when: "schedule", schedule: schedule.name } as const;
  return formOf(made, entries, change);
}

function Stored({ chosen, onChoose }: { chosen: string; onChoose: (name: string) => void }) {
  const { data, error } = useQuery({
    queryKey: ["stored-applications"],
    queryFn: () => told(api.GET("/api/v1/applications")),
  });
  const names = [...new Set([chosen, ...(data?.applications ?? []).map((one) => one.name)])];
  return (
    <div className="field">
      <label htmlFor="stored">Application</label>
      <Control field="application">
        <select id="stored" value={chosen} onChange={(e) => onChoose(e.target.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Control>
      <FieldMessages field="application" />
      <ErrorBox error={error} />
    </div>
  );
}

/** The object that is written; throws Refused. */
function parsed(text: string, pointer: string): Record<string, unknown> {
  try {
    const value = parseJson(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    throw new SyntaxError("It must be a JSON object.");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Refused(422, "", "This is not JSON", "", [{ pointer, code: "", message, hint: "" }]);
  }
}
