import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { Meter } from "../../components/meter";
import { read, readHours, written, writtenHours } from "./bounds";
import { NameField } from "./name-field";

type Tenant = Schemas["TenantDetail"];

export function TenantsTab() {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["tenants"],
    queryFn: () => told(api.GET("/api/v1/admin/tenants")),
  });
  const renew = () => void queries.invalidateQueries({ queryKey: ["tenants"] });
  const [name, setName] = useState("");
  const add = useMutation({
    mutationFn: () => told(api.POST("/api/v1/admin/tenants", { body: { name } })),
    onSuccess: () => setName(""),
    onSettled: renew,
  });
  return (
    <>
      <ErrorBox error={error} />
      {data?.tenants.map((tenant) => (
        <TenantCard key={tenant.name} tenant={tenant} onChanged={renew} />
      ))}
      <form
        className="card row"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <NameField value={name} onChange={setName} />
        <button type="submit" className="primary" disabled={add.isPending}>
          Add the tenant
        </button>
        <ErrorBox error={add.error} />
      </form>
    </>
  );
}

function TenantCard({ tenant, onChanged }: { tenant: Tenant; onChanged: () => void }) {
  const [most, setMost] = useState(written(tenant.executions_max));
  const [ofUser, setOfUser] = useState(written(tenant.executions_of_user_max));
  const [hours, setHours] = useState(writtenHours(tenant.time_limit_s_max));
  const set = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/admin/tenants/{tenant}/quota", {
          params: { path: { tenant: tenant.name } },
          body: {
            executions_max: read(most),
            executions_of_user_max: read(ofUser),
            time_limit_s_max: readHours(hours),
          },
        }),
      ),
    onSettled: onChanged,
  });
  return (
    <section className="card" aria-label={tenant.name}>
      <h2>{tenant.name}</h2>
      <Meter label="Executions" used={tenant.executions} limit={tenant.executions_max} format={String} />
      <p className="faint">
        {tenant.members.length === 0
          ? "No members."
          : tenant.members.map((member) => `${member.user} (${member.role})`).join(", ")}
      </p>
      <form
        className="row"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          set.mutate();
        }}
      >
        <label>
          At most this many waiting or running (empty: any number){" "}
          <input type="number" min={0} value={most} onChange={(e) => setMost(e.target.value)} />
        </label>
        <label>
          Of each user{" "}
          <input type="number" min={0} value={ofUser} onChange={(e) => setOfUser(e.target.value)} />
        </label>
        <label>
          Longest time limit, in hours{" "}
          <input type="number" min={0} step="any" value={hours} onChange={(e) => setHours(e.target.value)} />
        </label>
        <button type="submit" disabled={set.isPending}>
          Set
        </button>
        <ErrorBox error={set.error} />
      </form>
    </section>
  );
}
