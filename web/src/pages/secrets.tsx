import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../api/client";
import { useMay, useSession } from "../api/session";
import { ErrorBox } from "../components/feedback";
import { FieldErrors, Labelled } from "../components/field-errors";
import { num, Table } from "../components/table";
import { moment } from "../format";

type Secret = Schemas["SecretView"];

/** Secrets of the user and of the tenant: names go out, values only in. */
export function Secrets() {
  const { tenant } = useSession();
  const maySubmit = useMay("submit");
  const mayOperate = useMay("operate");
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["secrets"],
    queryFn: () => told(api.GET("/api/v1/secrets")),
  });
  const remove = useMutation({
    mutationFn: ({ name, user }: Secret) =>
      told(
        api.DELETE("/api/v1/secrets/{name}", {
          params: { path: { name }, query: { of_tenant: user === null } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["secrets"] }),
    meta: { done: ({ name }: Secret) => `The secret ${name} is removed.` },
  });
  const onRemove = (secret: Secret) => {
    if (window.confirm(`Remove ${secret.name}? What starts later and asks for it fails.`))
      remove.mutate(secret);
  };
  return (
    <section className="card" aria-label="Secrets">
      <h2>Secrets</h2>
      <p className="faint">
        Descriptions ask for them by name, in <code>secrets</code>. Yours win over those of {tenant}. Values
        are never shown.
      </p>
      <ErrorBox error={error ?? remove.error} />
      <Table
        headings={["Name", "Of", num("Bytes"), "Set", { text: "Remove", hidden: true }]}
        empty={maySubmit ? "There are none yet: store one here." : "There are none yet."}
      >
        {data?.secrets.map((secret) => (
          <tr key={`${secret.user ?? ""}/${secret.name}`}>
            <td>
              <code>{secret.name}</code>
            </td>
            <td>{secret.user ?? tenant}</td>
            <td className="num">{secret.size_bytes.toLocaleString("en")}</td>
            <td className="time">{moment(secret.set_at_s)}</td>
            <td>
              {(secret.user === null ? mayOperate : maySubmit) && (
                <button
                  type="button"
                  className="danger"
                  aria-label={`Remove ${secret.name}`}
                  onClick={() => onRemove(secret)}
                >
                  Remove
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {maySubmit && <NewSecret mayOperate={mayOperate} tenant={tenant} />}
    </section>
  );
}

function NewSecret({ mayOperate, tenant }: { mayOperate: boolean; tenant: string }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [ofTenant, setOfTenant] = useState(false);
  const set = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/secrets/{name}", {
          params: { path: { name }, query: { of_tenant: ofTenant } },
          body: { value },
        }),
      ),
    onSuccess: () => {
      setName("");
      setValue("");
      return queries.invalidateQueries({ queryKey: ["secrets"] });
    },
    meta: { done: () => `The secret ${name} is stored.` },
  });
  return (
    <FieldErrors error={set.error} labels={{ name: "Name", value: "Value" }}>
      <form
        className="stacked"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          set.mutate();
        }}
      >
        <Labelled field="name" label="Name">
          <input
            value={name}
            onChange={(e) => setName(e.target.value)}
            pattern="[A-Za-z0-9][A-Za-z0-9_\-]*"
            maxLength={63}
            title="Letters, digits, _ and -"
            required
          />
        </Labelled>
        <Labelled field="value" label="Value">
          <input
            type="password"
            autoComplete="off"
            value={value}
            onChange={(e) => setValue(e.target.value)}
            required
          />
        </Labelled>
        {mayOperate && (
          <label>
            <input type="checkbox" checked={ofTenant} onChange={(e) => setOfTenant(e.target.checked)} /> for
            all users of {tenant}
          </label>
        )}
        <ErrorBox error={set.error} />
        <button type="submit" disabled={set.isPending}>
          Store it
        </button>
      </form>
    </FieldErrors>
  );
}
