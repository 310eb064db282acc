import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import { api, asDescription, told } from "../../api/client";
import { asRefused, type Diagnostic } from "../../api/problem";
import { useMay, useWhose } from "../../api/session";
import { submitted, submittedArray, useSending } from "../../api/submission";
import { ErrorBox, Loading, NoPage, ProblemBox } from "../../components/feedback";
import { parseJson } from "../../components/json";
import { useSettled } from "../../components/settled";
import { type Made, madeBy } from "./made";
import { NotCopied } from "./not-copied";
import { LivePlan } from "./plan";

const JsonEditor = lazy(() => import("./json-editor"));

type Document = Record<string, unknown>;

const SETTLED_MS = 400;
const BLANK: Document = {
  version: 4,
  name: "mine",
  components: [
    {
      name: "main",
      image: "zoe/tiny",
      command: ["echo", "hello from {host:self}"],
      resources: { memory: "64MiB", cores: 0.1 },
      ends_application: true,
    },
  ],
};

/** A description as JSON, checked by the server while it is written. */
export default function EditPage() {
  const [query] = useSearchParams();
  const { state } = useLocation() as { state: { document?: Document } | null };
  const from = query.get("from");
  const { data: origin, error } = useQuery({
    queryKey: ["made", from],
    queryFn: () => madeBy(from ?? ""),
    enabled: from !== null,
  });
  // What is written stays, also when the session of another tenant cannot read where it came from.
  const found = useRef<Made | null>(null);
  if (origin) found.current = origin;
  const begun = found.current?.id === from ? found.current : null;
  if (error && !begun) return <NoPage title="A description of your own" error={error} />;
  if (from !== null && !begun) return <Loading what="Reading the description" />;
  return <Edit key={from} start={begun?.description ?? state?.document ?? BLANK} origin={begun} />;
}

function Edit({ start, origin }: { start: Document; origin: Made | null }) {
  const [text, setText] = useState(() => JSON.stringify(start, null, 2));
  const settled = useSettled(text, SETTLED_MS);
  const document = useMemo(() => parsed(settled), [settled]);
  const maySubmit = useMay("submit");
  const whose = useWhose();
  const check = useQuery({
    queryKey: ["validate", document],
    queryFn: () =>
      told(api.POST("/api/v1/validate", { body: { application: asDescription(document as Document) } })),
    enabled: document !== null,
    retry: false,
  });
  const [indices, setIndices] = useState(origin?.indices ?? "");
  const array = useSettled(indices.trim(), SETTLED_MS);
  const launch = useSending(async (keyOf) => {
    const submission = { application: asDescription(documentOf(text)), name: origin?.name ?? null };
    if (indices.trim() === "") return `/executions/${(await submitted(submission, keyOf)).id}`;
    return `/arrays/${(await submittedArray({ ...submission, indices: indices.trim() }, keyOf)).id}`;
  });
  const findings: Diagnostic[] = check.error ? asRefused(check.error).errors : [];
  useEffect(() => {
    const changed = text !== JSON.stringify(start, null, 2);
    const warn = (event: BeforeUnloadEvent) => changed && event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [text, start]);
  return (
    <>
      <h1>{origin ? `After ${origin.name}` : "A description of your own"}</h1>
      <NotCopied names={origin?.hidden ?? []} />
      <div className="columns">
        <div>
          <Suspense fallback={<Loading what="Loading the editor" />}>
            <JsonEditor text={text} onChange={setText} findings={findings} />
          </Suspense>
          <div className="field">
            <label htmlFor="indices">Array</label>
            <input
              id="indices"
              value={indices}
              placeholder="such as 0-9: runs it once for each index"
              onChange={(e) => setIndices(e.target.value)}
            />
          </div>
          {document === null && <ProblemBox title="This is not JSON" text={syntaxError(settled)} />}
          {check.error && <ErrorBox error={check.error} />}
          <ErrorBox error={launch.error} />
          {maySubmit && (
            <button
              type="button"
              className="primary"
              disabled={launch.busy || parsed(text) === null}
              onClick={launch.submit}
            >
              Launch
            </button>
          )}
        </div>
        {check.data && document && <LivePlan key={whose} document={document} indices={array} />}
      </div>
    </>
  );
}

function parsed(text: string): Document | null {
  try {
    return documentOf(text);
  } catch {
    return null;
  }
}

/** The object that is written; throws SyntaxError. */
function documentOf(text: string): Document {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Document;
  throw new SyntaxError("It must be a JSON object.");
}

function syntaxError(text: string): string {
  try {
    documentOf(text);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
