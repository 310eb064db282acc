import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { CopyButton } from "../../components/files";
import { Table } from "../../components/table";
import { Documentation } from "../../documentation";
import { HandOverDialog } from "./hand-over-dialog";
import { NameField } from "./name-field";
import { newPassword } from "./password";

type User = Schemas["UserView"];
type Role = Schemas["Role"];

const LABELS = { name: "Name", tenant: "Tenant", role: "Role" };
const ROLES: Role[] = ["viewer", "user", "operator", "admin"];

export function UsersTab() {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["users"],
    queryFn: () => told(api.GET("/api/v1/admin/users")),
  });
  const { data: tenants } = useQuery({
    queryKey: ["tenants"],
    queryFn: () => told(api.GET("/api/v1/admin/tenants")),
  });
  const [leaving, setLeaving] = useState<User | null>(null);
  const [made, setMade] = useState<{ user: string; password: string } | null>(null);
  const renew = () => {
    void queries.invalidateQueries({ queryKey: ["users"] });
    void queries.invalidateQueries({ queryKey: ["tenants"] });
  };
  const names = tenants?.tenants.map((tenant) => tenant.name) ?? [];
  return (
    <>
      <ErrorBox error={error} />
      {made && (
        <p className="notice good" role="status">
          The password of {made.user}, shown this once: <code>{made.password}</code>{" "}
          <CopyButton text={made.password} />
        </p>
      )}
      <div className="card">
        <Table headings={["User", "Roles", "State", { text: "Change", hidden: true }]}>
          {data?.users.map((user) => (
            <Row
              key={user.name}
              user={user}
              tenants={names}
              onChanged={renew}
              onPassword={setMade}
              onLeaving={() => setLeaving(user)}
            />
          ))}
        </Table>
      </div>
      <NewUser tenants={names} onChanged={renew} onPassword={setMade} />
      {leaving && (
        <HandOverDialog
          user={leaving}
          users={data?.users ?? []}
          onChanged={renew}
          onClose={() => setLeaving(null)}
        />
      )}
    </>
  );
}

interface ChangeProps {
  tenants: string[];
  onChanged: () => void;
  onPassword: (made: { user: string; password: string }) => void;
}

interface RowProps extends ChangeProps {
  user: User;
  onLeaving: () => void;
}

function Row({ user, tenants, onChanged, onPassword, onLeaving }: RowProps) {
  const path = { user: user.name };
  const change = useMutation({
    mutationFn: (body: { disabled?: boolean; password?: string }) =>
      told(
        api.PATCH("/api/v1/admin/users/{user}", {
          params: { path },
          body: { disabled: body.disabled ?? null, password: body.password ?? null },
        }),
      ),
    onSuccess: (_, body) => {
      if (body.password) onPassword({ user: user.name, password: body.password });
    },
    onSettled: onChanged,
    meta: {
      done: ({ disabled }: { disabled?: boolean }) =>
        disabled === undefined ? "" : `${user.name} ${disabled ? "is disabled" : "may sign in again"}.`,
    },
  });
  const role = useMutation({
    mutationFn: ({ tenant, chosen }: { tenant: string; chosen: Role | "" }) => {
      const params = { path: { tenant, user: user.name } };
      return chosen === ""
        ? told(api.DELETE("/api/v1/admin/tenants/{tenant}/members/{user}", { params }))
        : told(api.PUT("/api/v1/admin/tenants/{tenant}/members/{user}", { params, body: { role: chosen } }));
    },
    onSettled: onChanged,
    meta: {
      done: ({ tenant, chosen }: { tenant: string; chosen: Role | "" }) =>
        `${user.name} is ${chosen || "no member"} of ${tenant}.`,
    },
  });
  return (
    <tr>
      <td>{user.name}</td>
      <td>
        {tenants.map((tenant) => (
          <label key={tenant} className="row">
            {tenant}
            <select
              aria-label={`role of ${user.name} in ${tenant}`}
              value={user.roles[tenant] ?? ""}
              onChange={(e) => role.mutate({ tenant, chosen: e.target.value as Role | "" })}
            >
              <option value="">no member</option>
              {ROLES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        ))}
        <ErrorBox error={role.error ?? change.error} />
      </td>
      <td>
        <span className={`badge ${user.disabled ? "bad" : "good"}`}>
          {user.disabled ? "disabled" : "enabled"}
        </span>
        {!user.password && <div className="faint">no password</div>}
      </td>
      <td className="row">
        <button
          type="button"
          onClick={() => {
            const question = `Disable ${user.name}? All sessions and tokens of ${user.name} end for good.`;
            if (user.disabled || window.confirm(question)) change.mutate({ disabled: !user.disabled });
          }}
        >
          {user.disabled ? "Enable" : "Disable"}
        </button>
        <button
          type="button"
          onClick={() => {
            const question = `Make a new password for ${user.name}? The present one is no longer valid.`;
            if (!user.password || window.confirm(question)) change.mutate({ password: newPassword() });
          }}
        >
          New password
        </button>
        {Object.keys(user.roles).length > 0 && (
          <button type="button" aria-label={`hand over what ${user.name} has`} onClick={onLeaving}>
            Hand over
          </button>
        )}
      </td>
    </tr>
  );
}

function NewUser({ tenants, onChanged, onPassword }: ChangeProps) {
  const [name, setName] = useState("");
  const [tenant, setTenant] = useState("");
  const [role, setRole] = useState<Role>("user");
  const chosen = tenant || tenants[0] || "";
  const add = useMutation({
    mutationFn: async () => {
      const password = newPassword();
      await told(api.POST("/api/v1/admin/users", { body: { name, password } }));
      try {
        const params = { path: { tenant: chosen, user: name } };
        await told(api.PUT("/api/v1/admin/tenants/{tenant}/members/{user}", { params, body: { role } }));
      } finally {
        // Not before the user may sign in with it, but also if the role was refused: it is told only once.
        onPassword({ user: name, password });
      }
    },
    onSuccess: () => setName(""),
    onSettled: onChanged,
  });
  return (
    <FieldErrors error={add.error} labels={LABELS}>
      <form
        className="card row"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <NameField value={name} onChange={setName} />
        <Labelled field="tenant" label="Tenant">
          <select value={chosen} onChange={(e) => setTenant(e.target.value)}>
            {tenants.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Labelled>
        <Labelled field="role" label="Role">
          <select value={role} onChange={(e) => setRole(e.target.value as Role)}>
            {ROLES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Labelled>
        <button type="submit" className="primary" disabled={add.isPending}>
          Add the user
        </button>
        <Documentation page="roles">What each role may do</Documentation>
        <ErrorBox error={add.error} />
      </form>
    </FieldErrors>
  );
}
