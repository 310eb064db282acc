import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../../api/client";
import { asRefused, Refused } from "../../../api/problem";
import { useMay } from "../../../api/session";
import { submittedWorkflow, useSending } from "../../../api/submission";
import { ErrorBox, Loading } from "../../../components/feedback";
import { FieldErrors } from "../../../components/field-errors";
import { parseJson } from "../../../components/json";
import { useKept } from "../../../components/kept";
import { useSettled } from "../../../components/settled";
import { counted } from "../../../format";
import { checkForm, putSchedule } from "../../catalogue/launching";
import { useCatalogue } from "../../catalogue/page";
import { keepAddress } from "../../catalogue/remembered";
import { readTiming, repeats, TIMING_LABELS, type Timing } from "../../catalogue/timing";
import { TimingForm } from "../../catalogue/timing-form";
import { draftDocument } from "./documents";
import { type Draft, draftAddress, draftIn, NEW_DRAFT, stepPlace, withoutStep, withStep } from "./draft";
import { StepFields } from "./step-fields";

const JsonEditor = lazy(() => import("../../catalogue/json-editor"));

type Document = Record<string, unknown>;

const SETTLED_MS = 400;

/** Makes a pipeline of steps and runs it, now or as a schedule. */
export default function NewWorkflowPage() {
  const [query, setQuery] = useSearchParams();
  const { state } = useLocation() as { state: { document?: Document } | null };
  const [draft, setDraft] = useKept<Draft>("workflow", NEW_DRAFT);
  const [json, setJson] = useState<string | null>(() =>
    state?.document ? JSON.stringify(state.document, null, 2) : null,
  );
  const [timing, setTiming] = useState<Timing>(() => readTiming(query));
  const { data: catalogue } = useCatalogue();
  const maySubmit = useMay("submit");
  const entries = catalogue?.entries ?? [];
  const make = (of: Draft, text: string | null) =>
    text === null ? draftDocument(of, entries) : Promise.resolve(parsed(text));
  const check = useChecked(draft, json, catalogue !== undefined, make);
  const launch = useSending(async (keyOf) => {
    checkForm(timing);
    const document = await make(draft, json);
    const address = await sent(document, timing, keyOf);
    if (json === null) keepAddress(address.replace("/workflows/", ""), draftAddress(draft));
    return address;
  });
  useEffect(() => {
    const given = draftIn(query);
    if (given === null) return;
    setDraft(given);
    query.delete("draft");
    setQuery(query, { replace: true });
  }, [query, setQuery, setDraft]);
  const change = (changed: Draft) => {
    setDraft(changed);
    launch.forget();
  };
  const labels = useMemo(
    () => ({
      ...TIMING_LABELS,
      ...Object.fromEntries(draft.steps.map((_, index) => [`step ${index + 1}`, `Step ${index + 1}`])),
    }),
    [draft.steps],
  );
  const refused = placed(launch.error);
  return (
    <FieldErrors error={[refused, placed(check.error)]} labels={labels}>
      <h1>New workflow</h1>
      <p>
        Steps that run after each other. All of them find your workspace, where one step leaves files for the
        next.
      </p>
      <div className="columns">
        <section className="card" aria-label="Steps">
          {json === null ? (
            <Steps draft={draft} entries={entries} onChange={change} />
          ) : (
            <Suspense fallback={<Loading what="Loading the editor" />}>
              <JsonEditor
                text={json}
                onChange={setJson}
                findings={check.error ? asRefused(check.error).errors : []}
              />
            </Suspense>
          )}
          <p />
          <TimingForm timing={timing} onChange={setTiming} once={false} />
          <ErrorBox error={refused} />
          <div className="row">
            {maySubmit && (
              <button type="button" className="primary" disabled={launch.busy} onClick={launch.submit}>
                {repeats(timing) ? "Add the schedule" : "Run"}
              </button>
            )}
            {json === null && JSON.stringify(draft) !== JSON.stringify(NEW_DRAFT) && (
              <button type="button" title="This browser keeps the draft" onClick={() => change(NEW_DRAFT)}>
                Clear
              </button>
            )}
            {json === null ? (
              <button
                type="button"
                disabled={!check.data}
                title={check.data ? undefined : "When the check on this page finds no error."}
                onClick={() => setJson(JSON.stringify(check.data?.document, null, 2))}
              >
                Edit as JSON
              </button>
            ) : (
              <button type="button" onClick={() => setJson(null)}>
                Back to the form
              </button>
            )}
          </div>
        </section>
        <section className="card" aria-label="Check" aria-live="polite">
          {!check.data && !check.error && !check.isLoading && (
            <p className="faint">Choose what the steps run. Errors are shown here.</p>
          )}
          {check.isLoading && <Loading what="Checking" />}
          <ErrorBox error={placed(check.error)} />
          {check.data && <Plan plan={check.data.plan} />}
        </section>
      </div>
    </FieldErrors>
  );
}

/** The document, and what the server makes of it. */
function useChecked(
  draft: Draft,
  json: string | null,
  ready: boolean,
  make: (draft: Draft, json: string | null) => Promise<Document>,
) {
  const settled = useSettled(draft, SETTLED_MS);
  const text = useSettled(json, SETTLED_MS);
  return useQuery({
    queryKey: ["workflow", settled, text],
    queryFn: async () => {
      const document = await make(settled, text);
      const body = { document, parameters: {} };
      return { document, plan: await told(api.POST("/api/v1/workflows:validate", { body })) };
    },
    enabled: ready && (text !== null || settled.steps.some((step) => step.file !== "" || step.stored !== "")),
    retry: false,
  });
}

async function sent(document: Document, timing: Timing, keyOf: (body: object) => string): Promise<string> {
  if (repeats(timing)) return putSchedule(timing, { document });
  return submittedWorkflow({ document, parameters: {} }, keyOf);
}

function parsed(text: string): Document {
  try {
    return parseJson(text) as Document;
  } catch (error) {
    throw new Refused(422, "", "This is not JSON", error instanceof Error ? error.message : "");
  }
}

function placed(error: unknown): unknown {
  if (!error) return error;
  const { status, code, message, hint, errors } = asRefused(error);
  const found = errors.map((one) => ({ ...one, pointer: stepPlace(one.pointer) }));
  return new Refused(status, code, message, hint, found);
}

interface StepsProps {
  draft: Draft;
  entries: Schemas["CatalogueEntryView"][];
  onChange: (draft: Draft) => void;
}

function Steps({ draft, entries, onChange }: StepsProps) {
  const { data } = useQuery({
    queryKey: ["stored-applications"],
    queryFn: () => told(api.GET("/api/v1/applications")),
  });
  const stored = (data?.applications ?? []).filter(
    (one) => !one.workflow && Object.keys(one.parameters).length === 0,
  );
  return (
    <>
      <div className="field">
        <label htmlFor="workflow-name">Name of the workflow</label>
        <input
          id="workflow-name"
          value={draft.name}
          maxLength={128}
          onChange={(e) => onChange({ ...draft, name: e.target.value })}
        />
      </div>
      {draft.steps.map((step, index) => (
        <StepFields
          key={step.key}
          step={step}
          number={index + 1}
          draft={draft}
          endings={entries.flatMap((one) => one.script ?? [])}
          stored={stored}
          onChange={(changed) =>
            onChange({ ...draft, steps: draft.steps.map((one) => (one.key === step.key ? changed : one)) })
          }
          onRemove={draft.steps.length > 1 ? () => onChange(withoutStep(draft, step.key)) : null}
        />
      ))}
      <button type="button" onClick={() => onChange(withStep(draft))}>
        Add a step
      </button>
    </>
  );
}

function Plan({ plan }: { plan: Schemas["WorkflowPlan"] }) {
  return (
    <>
      <h2>It can run</h2>
      <p>{counted(plan.steps.length, "step")}, in this order:</p>
      <ol>
        {plan.steps.map((step) => (
          <li key={step.name}>{step.name}</li>
        ))}
      </ol>
      {plan.notes?.map((note) => (
        <p className="notice" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}
