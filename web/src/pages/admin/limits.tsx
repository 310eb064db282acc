import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { Meter } from "../../components/meter";
import { num, Table } from "../../components/table";
import { AMOUNTS, type Amount, entered, said } from "./amounts";

type Limit = Schemas["LimitView"];
type Meters = Schemas["MetersView"];

const EVERY_MS = 5_000;
const EVERY = "*";

/** What tenants and users may have at the same time, and how much of it they have. */
export function LimitsTab() {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["limits"],
    queryFn: () => told(api.GET("/api/v1/admin/limits")),
    refetchInterval: EVERY_MS,
  });
  const { data: tenants } = useQuery({
    queryKey: ["tenants"],
    queryFn: () => told(api.GET("/api/v1/admin/tenants")),
  });
  const renew = () => {
    void queries.invalidateQueries({ queryKey: ["limits"] });
    void queries.invalidateQueries({ queryKey: ["tenants"] });
  };
  return (
    <>
      <ErrorBox error={error} />
      {data?.meters.map((one) => (
        <MetersCard key={`${one.tenant}/${one.user ?? ""}`} told={one} />
      ))}
      <div className="card">
        <Table
          headings={[
            "Tenant",
            "User",
            ...AMOUNTS.map((one) => num(one.label)),
            { text: "Change", hidden: true },
          ]}
          empty="No limit is set: the defaults hold."
        >
          {data?.limits.map((limit) => (
            <Row key={`${limit.tenant}/${limit.user ?? ""}`} limit={limit} onChanged={renew} />
          ))}
        </Table>
        <p className="faint">
          –: the default holds, that of each user or of all tenants. Submissions beyond executions or hours
          are refused; what is beyond the rest waits.
        </p>
      </div>
      <SetLimit tenants={tenants?.tenants ?? []} onChanged={renew} />
    </>
  );
}

function MetersCard({ told }: { told: Meters }) {
  const name = told.user === null ? told.tenant : `${told.user} in ${told.tenant}`;
  return (
    <section className="card" aria-label={name}>
      <h2>{name}</h2>
      {AMOUNTS.map((amount) => {
        const meter = told.meters[amount.name];
        return meter && <Meter key={amount.name} label={plain(amount)} {...meter} format={amount.format} />;
      })}
    </section>
  );
}

function Row({ limit, onChanged }: { limit: Limit; onChanged: () => void }) {
  const clear = useMutation({
    mutationFn: () =>
      told(
        api.DELETE("/api/v1/admin/limits", {
          params: { query: { tenant: limit.tenant, ...(limit.user !== null && { user: limit.user }) } },
        }),
      ),
    onSettled: onChanged,
    meta: { done: () => "The limits are cleared." },
  });
  return (
    <tr>
      <td>{limit.tenant === EVERY ? "all others" : limit.tenant}</td>
      <td>{limit.user === EVERY ? "each" : limit.user}</td>
      {AMOUNTS.map((amount) => (
        <td key={amount.name} className="num">
          {said(limit.amounts, amount)}
        </td>
      ))}
      <td>
        <button type="button" disabled={clear.isPending} onClick={() => clear.mutate()}>
          Clear
        </button>
        <ErrorBox error={clear.error} />
      </td>
    </tr>
  );
}

function SetLimit({ tenants, onChanged }: { tenants: Schemas["TenantDetail"][]; onChanged: () => void }) {
  const [tenant, setTenant] = useState(EVERY);
  const [user, setUser] = useState("");
  const [name, setName] = useState("executions");
  const [most, setMost] = useState("");
  const possible = AMOUNTS.filter((one) => user === "" || one.ofUsers);
  const amount = possible.find((one) => one.name === name) ?? (AMOUNTS[0] as Amount);
  const set = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/admin/limits", {
          body: { tenant, user: user || null, amounts: { [amount.name]: entered(most, amount) } },
        }),
      ),
    onSettled: onChanged,
    meta: { done: () => "The limit is set." },
  });
  const members = tenants.find((one) => one.name === tenant)?.members ?? [];
  return (
    <FieldErrors error={set.error} labels={LABELS}>
      <form
        className="card row"
        aria-label="Set a limit"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          set.mutate();
        }}
      >
        <Labelled field="tenant" label="Tenant">
          <select
            value={tenant}
            onChange={(e) => {
              setTenant(e.target.value);
              setUser("");
            }}
          >
            <option value={EVERY}>all others</option>
            {tenants.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        </Labelled>
        <Labelled field="user" label="Of">
          <select value={user} onChange={(e) => setUser(e.target.value)}>
            <option value="">the whole tenant</option>
            <option value={EVERY}>each user</option>
            {members.map((member) => (
              <option key={member.user}>{member.user}</option>
            ))}
          </select>
        </Labelled>
        <label>
          Amount{" "}
          <select value={amount.name} onChange={(e) => setName(e.target.value)}>
            {possible.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        <Labelled field={amount.name} label="At most (empty: no limit)">
          <input type="number" min={0} step="any" value={most} onChange={(e) => setMost(e.target.value)} />
        </Labelled>
        <button type="submit" className="primary" disabled={set.isPending}>
          Set limit
        </button>
        <ErrorBox error={set.error} />
      </form>
    </FieldErrors>
  );
}

const LABELS = {
  tenant: "Tenant",
  user: "Of",
  ...Object.fromEntries(AMOUNTS.map((one) => [one.name, one.label])),
};

/** A label without its unit, which a meter's text has. */
const plain = (amount: Amount) => amount.label.split(",")[0] as string;
