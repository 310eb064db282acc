import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { Dialog } from "../../components/dialog";
import { ErrorBox } from "../../components/feedback";
import { moment } from "../../format";

type Level = Schemas["ShareLevel"];

const LEVELS: Record<Level, string> = {
  look: "look: state, output, events",
  open: "open: the application, too",
  control: "control: terminal, hold, change and cancel, too",
};

/** The button of an owner, and with whom the execution is shared. */
export function Share({ executionId }: { executionId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Share
      </button>
      {open && (
        <Dialog title="Share this execution" onClose={() => setOpen(false)}>
          <Shares executionId={executionId} />
          <form method="dialog">
            <button type="submit">Close</button>
          </form>
        </Dialog>
      )}
    </>
  );
}

function Shares({ executionId }: { executionId: string }) {
  const queries = useQueryClient();
  const key = ["shares", executionId];
  const path = { execution_id: executionId };
  const route = "/api/v1/executions/{execution_id}/shares";
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: () => told(api.GET(route, { params: { path } })),
  });
  const onSettled = () => queries.invalidateQueries({ queryKey: key });
  const [user, setUser] = useState("");
  const [everybody, setEverybody] = useState(false);
  const [level, setLevel] = useState<Level>("look");
  const share = useMutation({
    mutationFn: () =>
      told(api.PUT(route, { params: { path }, body: { user: everybody ? null : user.trim(), level } })),
    onSuccess: () => setUser(""),
    onSettled,
  });
  const end = useMutation({
    mutationFn: (whom: string | null) =>
      told(api.DELETE(route, { params: { path, query: whom === null ? {} : { user: whom } } })),
    onSettled,
  });
  const warnings = (data?.shares ?? []).map((one) => one.warning).filter((text) => text !== "");
  return (
    <>
      {data && data.shares.length === 0 && <p>Only you and operators see it.</p>}
      <ul aria-label="Shared with" aria-live="polite">
        {data?.shares.map((one) => (
          <li key={one.user ?? ""} className="spread">
            <span>
              {one.user ?? "all members of the tenant"}: {one.level}, since {moment(one.at_s)}
            </span>
            <button type="button" disabled={end.isPending} onClick={() => end.mutate(one.user)}>
              End
            </button>
          </li>
        ))}
      </ul>
      {warnings.map((text) => (
        <p key={text} className="notice" role="status">
          Warning: {text}.
        </p>
      ))}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          share.mutate();
        }}
      >
        <label>
          With
          <select
            value={everybody ? "all" : "one"}
            onChange={(event) => setEverybody(event.target.value === "all")}
          >
            <option value="one">one user</option>
            <option value="all">all members of the tenant</option>
          </select>
        </label>
        {!everybody && (
          <label>
            User
            <input value={user} required onChange={(event) => setUser(event.target.value)} />
          </label>
        )}
        <label>
          For
          <select value={level} onChange={(event) => setLevel(event.target.value as Level)}>
            {Object.entries(LEVELS).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={share.isPending}>
          Share
        </button>
      </form>
      {level !== "look" && (
        <p className="notice">
          Whom you let in can read your files and secrets through an application that runs programs, such as a
          notebook. Its token for <code>zoe_client.Client()</code> ends for good.
        </p>
      )}
      <ErrorBox error={error ?? share.error ?? end.error} />
    </>
  );
}
