import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../api/client";
import { useMay, useSession } from "../api/session";
import { Empty, ErrorBox } from "../components/feedback";
import { num, Table } from "../components/table";
import { moment } from "../format";

type Statement = Schemas["StatementView"];

/** What executions of a month cost: the user's own part, or all of the tenant for operators. */
export default function StatementPage() {
  const { tenant } = useSession();
  const operates = useMay("operate");
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7));
  const { data, error } = useQuery({
    queryKey: ["statement", month],
    enabled: /^\d{4}-\d{2}$/.test(month),
    queryFn: async () => {
      // The route answers as CSV, too, to whoever asks for that.
      const answer = await told(api.GET("/api/v1/statements/{month}", { params: { path: { month } } }));
      return answer as Statement;
    },
  });
  return (
    <>
      <div className="spread">
        <h1>Statement {operates ? `of ${tenant}` : "of your executions"}</h1>
        <div className="row">
          <label>
            Month <input type="month" value={month} onChange={(e) => setMonth(e.target.value)} />
          </label>
          <a className="button" href={`/api/v1/statements/${month}?format=csv`} download>
            CSV
          </a>
        </div>
      </div>
      <Budgets />
      <ErrorBox error={error} />
      {data && <Whole statement={data} />}
    </>
  );
}

function Whole({ statement }: { statement: Statement }) {
  const state = statement.closed ? "closed" : `until ${moment(statement.until_s)}`;
  return (
    <>
      {statement.gaps.map((text) => (
        <p className="notice" key={text}>
          {text}
        </p>
      ))}
      {statement.lines.length === 0 && <Empty>Nothing was reserved in this month.</Empty>}
      {statement.currency !== null && (
        <p>
          Total ({state}): <strong className="num">{`${statement.total} ${statement.currency}`}</strong>, of
          which {statement.unused} for what was reserved and not used
        </p>
      )}
      {statement.lines.length > 0 && <Lines lines={statement.lines} />}
    </>
  );
}

function Lines({ lines }: { lines: Statement["lines"] }) {
  return (
    <div className="card">
      <Table
        headings={[
          "User",
          "Application",
          "Meter",
          "From",
          "To",
          num("Quantity"),
          num("Rate"),
          num("Amount"),
          num("Discount"),
          num("Credit"),
          num("Total"),
          num("Unused"),
        ]}
      >
        {lines.map((line) => (
          <tr
            key={[line.tenant, line.user, line.application, line.meter, line.device, line.from_s].join("/")}
          >
            <td>{line.user}</td>
            <td>{line.application}</td>
            <td>{`${line.meter} ${line.device}`.trim()}</td>
            <td className="time">{moment(line.from_s)}</td>
            <td className="time">{moment(line.to_s)}</td>
            <td className="num">{line.quantity}</td>
            <td className="num">{line.rate ?? "none"}</td>
            <td className="num">{line.amount ?? "not priced"}</td>
            <td className="num">{line.discount}</td>
            <td className="num">{line.credit}</td>
            <td className="num">{line.total}</td>
            <td className="num">{line.unused ?? ""}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** What may be spent in this month, where a budget is set. */
function Budgets() {
  const { data } = useQuery({ queryKey: ["budgets"], queryFn: () => told(api.GET("/api/v1/budgets")) });
  if (!data?.budgets.length) return null;
  return (
    <section className="card" aria-label="Budgets">
      <h2>Budgets, this month</h2>
      {data.budgets.map((one) => (
        <p key={`${one.tenant}/${one.user ?? ""}`}>
          {one.user ?? one.tenant}: {one.spent} of {one.amount} {one.currency ?? ""} spent; what runs costs{" "}
          {one.hourly} an hour. {one.refuses ? "Once it is spent, submissions are refused." : ""}
        </p>
      ))}
    </section>
  );
}
