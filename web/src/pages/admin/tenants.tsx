import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors } from "../../components/field-errors";
import { Meter } from "../../components/meter";
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
    meta: { done: () => `The tenant ${name} is added.` },
  });
  return (
    <>
      <ErrorBox error={error} />
      {data?.tenants.map((tenant) => (
        <TenantCard key={tenant.name} tenant={tenant} />
      ))}
      <FieldErrors error={add.error} labels={{ name: "Name" }}>
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
      </FieldErrors>
    </>
  );
}

function TenantCard({ tenant }: { tenant: Tenant }) {
  return (
    <section className="card" aria-label={tenant.name}>
      <h2>{tenant.name}</h2>
      <Meter label="Executions" used={tenant.executions} limit={tenant.executions_max} format={String} />
      <p className="faint">
        {tenant.members.length === 0
          ? "No members."
          : tenant.members.map((member) => `${member.user} (${member.role})`).join(", ")}
      </p>
      <Link to="/admin/limits">Limits</Link>
    </section>
  );
}
