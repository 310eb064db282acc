import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { Table } from "../../components/table";
import { moment } from "../../format";
import { revokeQuestion } from "../account";

export function TokensTab() {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["all-tokens"],
    queryFn: () => told(api.GET("/api/v1/admin/tokens")),
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      told(api.DELETE("/api/v1/admin/tokens/{token_id}", { params: { path: { token_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["all-tokens"] }),
    meta: { done: (id: string) => `The token ${id} is revoked.` },
  });
  return (
    <>
      <ErrorBox error={error ?? revoke.error} />
      <div className="card">
        <Table
          headings={[
            "Token",
            "User",
            "Tenant",
            "Scopes",
            "Note",
            "Made",
            "Ends",
            { text: "Revoke", hidden: true },
          ]}
        >
          {data?.tokens.map((token) => (
            <tr key={token.id}>
              <td>
                <code>{token.id}</code>
              </td>
              <td>{token.user}</td>
              <td>{token.tenant}</td>
              <td>{token.scopes.join(", ")}</td>
              <td>{token.note}</td>
              <td className="time">{moment(token.created_at_s)}</td>
              <td className="time">{token.expires_at_s === null ? "never" : moment(token.expires_at_s)}</td>
              <td>
                <button
                  type="button"
                  className="danger"
                  aria-label={`Revoke ${token.id}`}
                  onClick={() => window.confirm(revokeQuestion(token)) && revoke.mutate(token.id)}
                >
                  Revoke
                </button>
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </>
  );
}
