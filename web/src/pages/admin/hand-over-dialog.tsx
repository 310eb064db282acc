import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { Dialog } from "../../components/dialog";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";

type User = Schemas["UserView"];
type Done = Schemas["HandOverView"];

const PAUSE_MS = 1000;
const LABELS = { to: "To", tenant: "Tenant" };

interface Props {
  user: User;
  users: User[];
  onChanged: () => void;
  onClose: () => void;
}

/** Repeats the request until nothing is left to do now; what waits for running services is for the admin. */
export function HandOverDialog({ user, users, onChanged, onClose }: Props) {
  const tenants = Object.keys(user.roles).sort();
  const [tenant, setTenant] = useState(tenants[0] ?? "");
  const heirs = users.filter((one) => one.name !== user.name && !one.disabled && runs(one.roles[tenant]));
  const [chosen, setChosen] = useState("");
  const to = heirs.some((one) => one.name === chosen) ? chosen : (heirs[0]?.name ?? "");
  const [executions, setExecutions] = useState(0);
  const gone = useRef(false);
  useEffect(
    () => () => {
      gone.current = true;
    },
    [],
  );
  const give = useMutation({
    mutationFn: async () => {
      setExecutions(0);
      for (;;) {
        const params = { path: { tenant, user: user.name } };
        const done = await told(
          api.POST("/api/v1/admin/tenants/{tenant}/members/{user}/hand-over", { params, body: { to } }),
        );
        setExecutions((before) => before + done.executions);
        if (gone.current || !(done.executions_left || done.files === "moving")) return done;
        if (!done.executions) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    },
    onSettled: onChanged,
  });
  return (
    <Dialog title={`Hand over what ${user.name} has`} onClose={onClose}>
      <p>
        {user.name} is disabled, and all sessions and tokens end. Executions, their shares and files become
        the new owner's. Services that run go on as {user.name}. Secrets are not handed over.
      </p>
      <FieldErrors error={give.error} labels={LABELS}>
        <div className="row">
          <Labelled field="tenant" label="Tenant">
            <select value={tenant} onChange={(e) => setTenant(e.target.value)}>
              {tenants.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </Labelled>
          <Labelled field="to" label="To">
            <select value={to} onChange={(e) => setChosen(e.target.value)}>
              {heirs.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </Labelled>
        </div>
        {!to && <p className="faint">No other member of the tenant may run executions.</p>}
        <ErrorBox error={give.error} />
      </FieldErrors>
      <p role="status">
        {(give.isPending || give.data) && `Executions handed over: ${executions}. `}
        {give.data && filesText(give.data, to)}
      </p>
      <div className="row">
        <button
          type="button"
          className="danger"
          disabled={give.isPending || !to}
          onClick={() => give.mutate()}
        >
          Hand over to {to}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function runs(role: Schemas["Role"] | undefined): boolean {
  return role !== undefined && role !== "viewer";
}

function filesText(done: Done, to: string): string {
  if (done.files === "moved") return `The files are in ${done.directory} of ${to}'s workspace.`;
  if (done.files === "nothing") return "There are no files to move.";
  return `The files are not moved yet: ${done.message}. Hand over again then.`;
}
