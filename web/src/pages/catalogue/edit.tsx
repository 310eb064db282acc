import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { asRefused, type Diagnostic } from "../../api/problem";
import { useMay } from "../../api/session";
import { ErrorBox, Loading, ProblemBox } from "../../components/feedback";
import { useSettled } from "../../components/settled";
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
    queryKey: ["execution", from],
    queryFn: () =>
      told(api.GET("/api/v1/executions/{execution_id}", { params: { path: { execution_id: from ?? "" } } })),
    enabled: from !== null,
  });
  if (error) return <ErrorBox error={error} />;
  if (from !== null && !origin) return <Loading what="Reading the description" />;
  return <Edit start={origin?.description ?? state?.document ?? BLANK} origin={origin ?? null} />;
}

function Edit({ start, origin }: { start: Document; origin: Schemas["ExecutionView"] | null }) {
  const [text, setText] = useState(() => JSON.stringify(start, null, 2));
  const settled = useSettled(text, SETTLED_MS);
  const document = useMemo(() => parsed(settled), [settled]);
  const navigate = useNavigate();
  const maySubmit = useMay("submit");
  const check = useQuery({
    queryKey: ["validate", document],
    queryFn: () => told(api.POST("/api/v1/validate", { body: { application: document as Document } })),
    enabled: document !== null,
    retry: false,
  });
  const launch = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/executions", {
          body: { application: JSON.parse(text) as Document, name: origin?.name ?? null },
        }),
      ),
    onSuccess: (execution) => navigate(`/executions/${execution.id}`),
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
      <div className="columns">
        <div>
          <Suspense fallback={<Loading what="Loading the editor" />}>
            <JsonEditor text={text} onChange={setText} findings={findings} />
          </Suspense>
          <p />
          {document === null && <ProblemBox title="This is not JSON" text={syntaxError(settled)} />}
          {check.error && <ErrorBox error={check.error} />}
          <ErrorBox error={launch.error} />
          {maySubmit && (
            <button
              type="button"
              className="primary"
              disabled={launch.isPending || parsed(text) === null}
              onClick={() => launch.mutate()}
            >
              Launch
            </button>
          )}
        </div>
        {check.data && document && <LivePlan document={document} />}
      </div>
    </>
  );
}

function parsed(text: string): Document | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Document) : null;
  } catch {
    return null;
  }
}

function syntaxError(text: string): string {
  try {
    JSON.parse(text);
    return "It must be one object.";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
