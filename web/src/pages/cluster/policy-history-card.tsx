import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../../api/client";
import { Dialog } from "../../components/dialog";
import { ErrorBox } from "../../components/feedback";
import { Table } from "../../components/table";
import { moment } from "../../format";
import type { Policy } from "./policy-api";
import { before, changedSince, type PolicyChange, policyChanges } from "./policy-history";

interface HistoryProps {
  present: Policy;
  onChanged: () => void;
}

/** Who changed the policy, when and how; and the way back to the policy before the newest change. */
export function PolicyHistory({ present, onChanged }: HistoryProps) {
  const [asked, setAsked] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["policy changes", present.version],
    queryFn: policyChanges,
    placeholderData: (kept) => kept,
  });
  const newest = data?.[0];
  const later = newest ? changedSince(newest, present) : [];
  return (
    <section className="card" aria-label="Changes of the policy">
      <h2>Changes</h2>
      <ErrorBox error={error} />
      {newest && later.length === 0 && (
        <button type="button" onClick={() => setAsked(true)}>
          Go back to the policy before
        </button>
      )}
      {later.length > 0 && (
        <p className="faint">{later.join(", ")} changed in another way since the newest.</p>
      )}
      {data && (
        <Table headings={["When", "User", "Change"]} empty="The audit log has no change of the policy.">
          {data.map((change) => (
            <tr key={change.id}>
              <td className="time">{moment(change.atS)}</td>
              <td>{change.user}</td>
              <td className="long">
                <Settings change={change} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {asked && newest && (
        <GoBack
          change={newest}
          present={present}
          onDone={() => {
            setAsked(false);
            onChanged();
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}

function Settings({ change, back = false }: { change: PolicyChange; back?: boolean }) {
  return (
    <ul className="plain">
      {change.settings.map(([name, old, now]) => (
        <li key={name}>
          {name}: <code>{JSON.stringify(back ? now : old)}</code> to{" "}
          <code>{JSON.stringify(back ? old : now)}</code>
        </li>
      ))}
    </ul>
  );
}

interface GoBackProps extends HistoryProps {
  change: PolicyChange;
  onClose: () => void;
}

function GoBack({
  change,
  present,
  onDone,
  onClose,
}: Omit<GoBackProps, "onChanged"> & { onDone: () => void }) {
  const put = useMutation({
    mutationFn: () =>
      told(
        api.PUT("/api/v1/policy", {
          params: { header: { "if-match": `"${present.version}"` } },
          body: before(change, present),
        }),
      ),
    onSuccess: onDone,
    meta: { done: () => "The policy before is in force again." },
  });
  return (
    <Dialog title="Go back to the policy before?" onClose={onClose}>
      <p>
        It takes back the change of {change.user}, {moment(change.atS)}, at once:
      </p>
      <Settings change={change} back />
      <ErrorBox error={put.error} />
      <div className="row">
        <button type="button" className="primary" disabled={put.isPending} onClick={() => put.mutate()}>
          Go back to the policy before
        </button>
        <button type="button" onClick={onClose}>
          Keep the policy
        </button>
      </div>
    </Dialog>
  );
}
