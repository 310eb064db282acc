import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { asRefused, type Diagnostic, Refused } from "../../api/problem";
import { useMay, useWhose } from "../../api/session";
import { useSending } from "../../api/submission";
import { ErrorBox, Loading, NoPage } from "../../components/feedback";
import { Control, FieldErrors, FieldMessages, showControl } from "../../components/field-errors";
import { CopyButton } from "../../components/files";
import { Fold } from "../../components/fold";
import { useSettled } from "../../components/settled";
import { withZone } from "../../deadline";
import { mainComponent } from "./additions";
import { AdditionsForm } from "./additions-form";
import { EntryForm, FORM } from "./form";
import { indicesOf, launched, valuesOf, withAll } from "./launching";
import { NotCopied } from "./not-copied";
import { useCatalogue } from "./page";
import { LivePlan } from "./plan";
import { keepForm } from "./remembered";
import { wrongRunTime } from "./run-time";
import { SavedSettings } from "./saved-settings";
import { atFields, LEFT_OUT, labelsOf, readSettings, type Settings, writeSettings } from "./settings";
import { repeats, whenText } from "./timing";
import { TimingForm } from "./timing-form";
import { WishForm } from "./wish-form";

type Entry = Schemas["CatalogueEntryView"];

const SETTLED_MS = 250;
const RUN_TIME = "execution-run-time";

export default function LaunchPage() {
  const { entryId = "" } = useParams();
  const { data, error, isLoading } = useCatalogue();
  if (isLoading) return <Loading what="Reading the catalogue" />;
  const entry = data?.entries.find((one) => one.id === entryId);
  if (entry === undefined)
    return (
      <NoPage title="Catalogue" error={error ?? new Refused(404, "", `The catalogue has no “${entryId}”`)} />
    );
  return <Launch key={entry.id} entry={entry} />;
}

function Launch({ entry }: { entry: Entry }) {
  const [query] = useSearchParams();
  const maySubmit = useMay("submit");
  const whose = useWhose();
  const [leftOut] = useState(() => query.getAll(LEFT_OUT));
  const labels = useMemo(() => labelsOf(entry), [entry]);
  const [settings, setSettings] = useState<Settings>(() => readSettings(entry, query));
  const [unplanned, setUnplanned] = useState<unknown>(null);
  const change = (changed: Partial<Settings>) => {
    setSettings({ ...settings, ...changed });
    launch.forget();
  };
  const settled = useSettled(settings, SETTLED_MS);
  const filled = useFilled(entry, settled);
  const launch = useSending(async (keyOf) => {
    const { address, id } = await launched(entry, settings, keyOf);
    if (id !== null) keepForm(id, entry.id, writeSettings(entry, settings));
    return address;
  });
  useAddress(entry, settled, launch.busy);
  const refused = placed(filled.error ?? launch.error);
  const typed = refusalOf(wrongRunTime(settled.runTime));
  return (
    <FieldErrors error={[refused, filled.document && placed(unplanned), typed]} labels={labels} prefix={FORM}>
      <h1>{entry.title}</h1>
      <p>{entry.summary}</p>
      <NotCopied names={leftOut} />
      <div className="columns">
        <section className="card" aria-label="Settings">
          <Fields
            entry={entry}
            settings={settings}
            placeholder={String(filled.document?.name ?? entry.document.name ?? "")}
            onChange={change}
          />
          <ErrorBox error={refused} />
          <div className="row">
            {maySubmit && (
              <button type="button" className="primary" disabled={launch.busy} onClick={launch.submit}>
                {buttonText(entry, settings)}
              </button>
            )}
            {filled.document && settings.timing.when !== "schedule" && (
              <Link
                className="button"
                to="/new"
                state={{ document: withDeadline(filled.document, settings.deadline) }}
              >
                Edit as JSON
              </Link>
            )}
            <CopyButton text={window.location.href} label="Copy a link to these settings" />
          </div>
          <SavedSettings
            entryId={entry.id}
            query={String(writeSettings(entry, settings))}
            onChoose={(text) => setSettings(readSettings(entry, new URLSearchParams(text)))}
          />
        </section>
        {filled.document && (
          <LivePlan
            key={whose}
            document={filled.document}
            deadline={settled.deadline}
            indices={indicesOf(settled.values)}
            when={whenText(settled.timing)}
            onRefused={setUnplanned}
            onDeadline={(deadline) => change({ deadline })}
            onRunTime={() => showControl(document.getElementById(RUN_TIME))}
          />
        )}
      </div>
    </FieldErrors>
  );
}

/** The description of the settled form; none for a script that is not chosen yet. */
function useFilled(entry: Entry, settings: Settings) {
  const values = valuesOf(entry, settings.values);
  const { data, error } = useQuery({
    queryKey: ["filled", entry.id, values],
    queryFn: () =>
      told(
        api.POST("/api/v1/catalogue/{entry_id}/fill", {
          params: { path: { entry_id: entry.id } },
          body: { values },
        }),
      ),
    enabled: values.file !== "",
    placeholderData: (before) => before,
    retry: false,
  });
  const plain = values.file === "" ? undefined : data?.document;
  const document = useMemo(() => plain && withAll(plain, settings), [plain, settings]);
  return { document, error: values.file === "" ? null : error };
}

/** Keeps the form in the page's address. */
function useAddress(entry: Entry, settings: Settings, busy: boolean) {
  const [, setQuery] = useSearchParams();
  const { pathname } = useLocation();
  // Once it is launched the page is about to go, and also while the code of a page is fetched to which a link led: another
  // address would bring it back.
  useEffect(() => {
    if (!busy && window.location.pathname === pathname)
      setQuery(writeSettings(entry, { ...settings, name: "" }), { replace: true });
  }, [entry, settings, setQuery, busy, pathname]);
}

interface FieldsProps {
  entry: Entry;
  settings: Settings;
  /** Its name, if none is given. */
  placeholder: string;
  onChange: (changed: Partial<Settings>) => void;
}

function Fields({ entry, settings, placeholder, onChange }: FieldsProps) {
  const main = mainComponent(entry.document);
  const { wish, deadline, runTime } = settings;
  return (
    <>
      <EntryForm entry={entry} values={settings.values} onChange={(values) => onChange({ values })} />
      {main !== null && (
        <AdditionsForm
          component={main}
          additions={settings.additions}
          onChange={(additions) => onChange({ additions })}
        />
      )}
      {entry.document.kind !== "interactive" && (
        <TimingForm timing={settings.timing} onChange={(timing) => onChange({ timing })} />
      )}
      <div className="field">
        <label htmlFor="execution-name">Name of this execution</label>
        <Control field="name">
          <input
            id="execution-name"
            value={settings.name}
            placeholder={placeholder}
            maxLength={128}
            onChange={(e) => onChange({ name: e.target.value })}
          />
        </Control>
        <FieldMessages field="name" />
      </div>
      <Fold
        title="Deadline and promise"
        filled={deadline !== "" || runTime !== "" || wish.wanted}
        fields={["deadline", "run_time", "promise"]}
      >
        <div className="field">
          <label htmlFor="execution-deadline">Deadline</label>
          <Control field="deadline">
            <input
              id="execution-deadline"
              value={deadline}
              placeholder="08:00, +3h or 2026-12-01 08:30"
              maxLength={64}
              onChange={(e) => onChange({ deadline: e.target.value })}
            />
          </Control>
          <FieldMessages field="deadline" />
        </div>
        <div className="field">
          <label htmlFor={RUN_TIME}>Expected run time</label>
          <Control field="run_time">
            <input
              id={RUN_TIME}
              value={runTime}
              placeholder="45s, 90m or 1h30m"
              maxLength={32}
              onChange={(e) => onChange({ runTime: e.target.value })}
            />
          </Control>
          <FieldMessages field="run_time" />
          <p className="faint">A promise needs it until this program has run here once.</p>
        </div>
        <WishForm wish={wish} onChange={(changed) => onChange({ wish: changed })} />
      </Fold>
    </>
  );
}

/** What is wrong with that which is typed; null if nothing is. */
function refusalOf(errors: Diagnostic[]): Refused | null {
  return errors.length === 0 ? null : new Refused(422, "", "", "", errors);
}

/** An error whose findings are at fields of the form. */
function placed(error: unknown): unknown {
  if (!error) return error;
  const { status, code, message, hint, errors } = asRefused(error);
  return new Refused(status, code, message, hint, atFields(errors));
}

function buttonText(entry: Entry, { timing }: Settings): string {
  if (timing.when === "schedule") return "Change the schedule";
  if (repeats(timing)) return "Add the schedule";
  return entry.script ? "Run" : "Launch";
}

function withDeadline(document: Record<string, unknown>, given: string): Record<string, unknown> {
  const deadline = withZone(given);
  return deadline === "" ? document : { ...document, deadline_s: undefined, deadline };
}
