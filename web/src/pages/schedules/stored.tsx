import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay, useSession } from "../../api/session";
import { randomKey } from "../../api/submission";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { useOneAtATime } from "../../components/one-at-a-time";
import { Table } from "../../components/table";
import { moment } from "../../format";

type Stored = Schemas["StoredApplicationView"];
const PAGES = { execution: "executions", array: "arrays", workflow: "workflows" } as const;

/** Stored applications of the user and of the tenant; each can be run with other values of its parameters. */
export function StoredApplications() {
  const { tenant } = useSession();
  const maySubmit = useMay("submit");
  const [chosen, setChosen] = useState<Stored | null>(null);
  const { data, error } = useQuery({
    queryKey: ["stored-applications"],
    queryFn: () => told(api.GET("/api/v1/applications")),
  });
  return (
    <section className="card" aria-label="Stored applications">
      <h2>Stored applications</h2>
      <ErrorBox error={error} />
      {data?.applications.length === 0 && (
        <p className="faint">
          There are none yet. <code>zoe app put NAME FILE</code> stores one.
        </p>
      )}
      {data !== undefined && data.applications.length > 0 && (
        <Table headings={["Name", "Of", "Version", "Kind", "Stored", { text: "Run", hidden: true }]}>
          {data.applications.map((one) => (
            <tr key={`${one.user ?? ""}/${one.name}`}>
              <td>{one.name}</td>
              <td>{one.user ?? tenant}</td>
              <td className="num">{one.version}</td>
              <td>{one.workflow ? "workflow" : "application"}</td>
              <td className="time">{moment(one.made_at_s)}</td>
              <td>
                {maySubmit && (
                  <button type="button" aria-label={`Run ${one.name} …`} onClick={() => setChosen(one)}>
                    Run …
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {chosen !== null && <Dispatch key={`${chosen.user ?? ""}/${chosen.name}`} one={chosen} />}
    </section>
  );
}

function Dispatch({ one }: { one: Stored }) {
  const navigate = useNavigate();
  const [key] = useState(randomKey);
  const [values, setValues] = useState<Record<string, string>>({});
  const run = useOneAtATime({
    mutationFn: () =>
      told(
        api.POST("/api/v1/applications/{name}/dispatch", {
          params: {
            path: { name: one.name },
            query: { of_tenant: one.user === null },
            header: { "idempotency-key": key },
          },
          body: { parameters: values, after: [], hold: false, keep: false },
        }),
      ),
    onSuccess: ({ kind, id }) => navigate(`/${PAGES[kind]}/${id}`),
  });
  const labels = Object.fromEntries(Object.keys(one.parameters).map((name) => [name, name]));
  return (
    <FieldErrors error={run.error} labels={labels}>
      <form
        className="stacked"
        aria-label={`Run ${one.name}`}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          run.mutate();
        }}
      >
        <h3>Run {one.name}</h3>
        {Object.entries(one.parameters).map(([name, declared]) => (
          <Labelled key={name} field={name} label={name}>
            <input
              value={values[name] ?? ""}
              placeholder={defaultOf(declared)}
              required={defaultOf(declared) === undefined}
              onChange={(e) => setValues(withValue(values, name, e.target.value))}
            />
          </Labelled>
        ))}
        <ErrorBox error={run.error} />
        <button type="submit" disabled={run.isPending}>
          Run it
        </button>
      </form>
    </FieldErrors>
  );
}

function defaultOf(declared: unknown): string | undefined {
  const value = (declared as { default?: unknown }).default;
  return value === undefined || value === null ? undefined : String(value);
}

/** An empty field means the default. */
function withValue(values: Record<string, string>, name: string, text: string): Record<string, string> {
  const { [name]: _, ...others } = values;
  return text === "" ? others : { ...others, [name]: text };
}
