import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "react-router";
import { api, asDescription, type Schemas, told } from "../../api/client";
import { useMay, useWhose } from "../../api/session";
import { useSubmission } from "../../api/submission";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import type { Labels } from "../../components/field-label";
import { CopyButton } from "../../components/files";
import { useSettled } from "../../components/settled";
import { withZone } from "../../deadline";
import { type Additions, mainComponent, readAdditions, withAdditions, writeAdditions } from "./additions";
import { AdditionsForm } from "./additions-form";
import { EntryForm, type Values } from "./form";
import { useCatalogue } from "./page";
import { LivePlan } from "./plan";
import { keepForm } from "./remembered";
import { SavedSettings } from "./saved-settings";
import { readWish, type Wish, withWish, writeWish } from "./wish";
import { WishForm } from "./wish-form";

type Entry = Schemas["CatalogueEntryView"];

const SETTLED_MS = 250;
const DEADLINE = "execution_deadline";

export default function LaunchPage() {
  const { entryId = "" } = useParams();
  const { data, error, isLoading } = useCatalogue();
  if (isLoading) return <Loading what="Reading the catalogue" />;
  const entry = data?.entries.find((one) => one.id === entryId);
  if (entry === undefined)
    return error ? <ErrorBox error={error} /> : <Empty>The catalogue has no “{entryId}”.</Empty>;
  return <Launch key={entry.id} entry={entry} />;
}

function Launch({ entry }: { entry: Entry }) {
  const [query, setQuery] = useSearchParams();
  const { pathname } = useLocation();
  const maySubmit = useMay("submit");
  const whose = useWhose();
  const labels = useMemo(() => labelsOf(entry), [entry]);
  const given = useMemo(() => readValues(entry, query), [entry, query]);
  const [values, setValues] = useState<Values>(given);
  const [name, setName] = useState(query.get("execution_name") ?? "");
  const [deadline, setDeadline] = useState(query.get(DEADLINE) ?? "");
  const [wish, setWish] = useState<Wish>(() => readWish(query));
  const [additions, setAdditions] = useState<Additions>(() => readAdditions(query));
  const choose = (text: string) => {
    const chosen = new URLSearchParams(text);
    setValues(readValues(entry, chosen));
    setName(chosen.get("execution_name") ?? "");
    setDeadline(chosen.get(DEADLINE) ?? "");
    setWish(readWish(chosen));
    setAdditions(readAdditions(chosen));
  };
  const settled = useSettled(values, SETTLED_MS);
  const settledDeadline = useSettled(deadline, SETTLED_MS);
  const settledWish = useSettled(wish, SETTLED_MS);
  const settledAdditions = useSettled(additions, SETTLED_MS);
  const filled = useQuery({
    queryKey: ["filled", entry.id, settled],
    queryFn: () =>
      told(
        api.POST("/api/v1/catalogue/{entry_id}/fill", {
          params: { path: { entry_id: entry.id } },
          body: { values: settled },
        }),
      ),
    placeholderData: (before) => before,
    retry: false,
  });
  const plain = filled.data?.document;
  const document = useMemo(
    () => plain && withWish(withAdditions(plain, settledAdditions), settledWish),
    [plain, settledAdditions, settledWish],
  );
  const main = mainComponent(entry.document);
  const keepThisForm = (executionId: string) =>
    keepForm(executionId, entry.id, queryOf(entry, values, name, additions, deadline, wish));
  const launch = useSubmission(async () => {
    const path = { entry_id: entry.id };
    const now = await told(
      api.POST("/api/v1/catalogue/{entry_id}/fill", { params: { path }, body: { values } }),
    );
    const application = asDescription(withWish(withAdditions(now.document, additions), wish));
    return { application, name: name || null, deadline: withZone(deadline) || null };
  }, keepThisForm);
  // Once it is launched the page is about to go, and also while the code of a page is fetched to which a link led: another
  // address would bring it back.
  const { busy } = launch;
  useEffect(() => {
    if (!busy && window.location.pathname === pathname)
      setQuery(queryOf(entry, settled, "", settledAdditions, settledDeadline, settledWish), {
        replace: true,
      });
  }, [entry, settled, settledAdditions, settledDeadline, settledWish, setQuery, busy, pathname]);
  return (
    <>
      <h1>{entry.title}</h1>
      <p>{entry.summary}</p>
      <div className="columns">
        <section className="card" aria-label="Settings">
          <EntryForm entry={entry} values={values} onChange={setValues} />
          {main !== null && <AdditionsForm component={main} additions={additions} onChange={setAdditions} />}
          <div className="field">
            <label htmlFor="execution-name">Name of this execution</label>
            <input
              id="execution-name"
              value={name}
              placeholder={String(entry.document.name ?? "")}
              maxLength={128}
              onChange={(e) => setName(e.target.value)}
            />
          </div>
          <div className="field">
            <label htmlFor="execution-deadline">Deadline</label>
            <input
              id="execution-deadline"
              value={deadline}
              placeholder="08:00, +3h or 2026-12-01 08:30"
              maxLength={64}
              onChange={(e) => setDeadline(e.target.value)}
            />
          </div>
          <WishForm wish={wish} onChange={setWish} />
          <ErrorBox error={filled.error ?? launch.error} labels={labels} />
          <div className="row">
            {maySubmit && (
              <button type="button" className="primary" disabled={busy} onClick={launch.submit}>
                Launch
              </button>
            )}
            {document && (
              <Link className="button" to="/new" state={{ document: withDeadline(document, deadline) }}>
                Edit as JSON
              </Link>
            )}
            <CopyButton text={window.location.href} label="Copy a link to these settings" />
          </div>
          <SavedSettings
            entryId={entry.id}
            query={String(queryOf(entry, values, name, additions, deadline, wish))}
            onChoose={choose}
          />
        </section>
        {document && (
          <LivePlan key={whose} document={document} deadline={settledDeadline} onDeadline={setDeadline} />
        )}
      </div>
    </>
  );
}

function withDeadline(document: Record<string, unknown>, given: string): Record<string, unknown> {
  const deadline = withZone(given);
  return deadline === "" ? document : { ...document, deadline_s: undefined, deadline };
}

interface FieldSchema {
  type?: string;
  title?: string;
}

function fieldsOf(entry: Entry): Record<string, FieldSchema> {
  return (entry.form?.properties ?? {}) as Record<string, FieldSchema>;
}

/** What the form calls its fields. */
function labelsOf(entry: Entry): Labels {
  const titles = Object.entries(fieldsOf(entry)).map(([name, { title }]) => [name, title ?? name]);
  return { ...Object.fromEntries(titles), name: "Name of this execution", deadline: "Deadline" };
}

/** The form's values as the page's address gives them; what is no number where one belongs is left out. */
function readValues(entry: Entry, query: URLSearchParams): Values {
  const values: Values = {};
  for (const [name, schema] of Object.entries(fieldsOf(entry))) {
    const text = query.get(name);
    if (text === null) continue;
    if (schema.type === "boolean") values[name] = text === "true";
    else if (schema.type === "string") values[name] = text;
    else if (Number.isFinite(Number(text))) values[name] = Number(text);
  }
  return values;
}

/** The form's values with the additions, the name and the deadline of the execution, and whether that is promised. */
function queryOf(
  entry: Entry,
  values: Values,
  name: string,
  additions: Additions,
  deadline: string,
  wish: Wish,
): URLSearchParams {
  const query = writeValues(entry, values);
  writeWish(query, wish);
  writeAdditions(query, additions);
  if (name) query.set("execution_name", name);
  if (deadline) query.set(DEADLINE, deadline);
  return query;
}

function writeValues(entry: Entry, values: Values): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of Object.keys(fieldsOf(entry)))
    if (values[name] !== undefined) query.set(name, String(values[name]));
  return query;
}
