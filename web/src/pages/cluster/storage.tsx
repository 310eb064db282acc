import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { Empty, ErrorBox, Loading, ProblemBox } from "../../components/feedback";
import { Meter } from "../../components/meter";
import { num, Table } from "../../components/table";
import { rate } from "../../format";
import { Requests } from "./requests";
import { StorageCharts } from "./storage-charts";

const ASK_AGAIN_MS = 2_000;
const NOT_TOLD = <span className="faint">not reported</span>;

/** The object store: what it can promise, what each tenant is granted and gets, who waits for bandwidth. */
export function StorageTab() {
  const { data, error, isLoading } = useQuery({
    queryKey: ["storage"],
    queryFn: () => told(api.GET("/api/v1/storage")),
    refetchInterval: ASK_AGAIN_MS,
  });
  if (isLoading) return <Loading what="Loading the store's state" />;
  if (error) return <ErrorBox error={error} />;
  if (!data?.configured)
    return <Empty>No storage controller is configured; see storage_url in the settings.</Empty>;
  return (
    <>
      {data.problem && <ProblemBox title="The storage controller does not answer" text={data.problem} />}
      {data.warnings?.map((text) => (
        <ProblemBox key={text} title={text} />
      ))}
      {data.capacity && data.promised && (
        <section className="card" aria-label="Capacity">
          <Meter
            label="read promised"
            used={data.promised.read_bytes_per_s}
            limit={data.capacity.read_bytes_per_s}
            format={rate}
          />
          <Meter
            label="write promised"
            used={data.promised.write_bytes_per_s}
            limit={data.capacity.write_bytes_per_s}
            format={rate}
          />
        </section>
      )}
      {data.tenants?.length === 0 && <Empty>No tenant uses the store now.</Empty>}
      {data.tenants && data.tenants.length > 0 && (
        <div className="card">
          <Table
            headings={[
              "Tenant",
              "Way",
              num("Granted"),
              num("Achieved"),
              "Share of the grant",
              num("Missed now"),
            ]}
          >
            {data.tenants.flatMap((tenant) =>
              (["read_bytes_per_s", "write_bytes_per_s"] as const).map((way) => (
                <tr key={`${tenant.tenant}/${way}`}>
                  <td className="long">{tenant.tenant}</td>
                  <td>{way === "read_bytes_per_s" ? "read" : "write"}</td>
                  <td className="num">{rate(tenant.granted[way])}</td>
                  <td className="num">{tenant.achieved ? rate(tenant.achieved[way]) : NOT_TOLD}</td>
                  <td>
                    <Share of={tenant.granted[way]} achieved={tenant.achieved?.[way]} />
                  </td>
                  <td className="num">
                    {tenant.missed ? tenant.missed[way] > 0 && rate(tenant.missed[way]) : NOT_TOLD}
                  </td>
                </tr>
              )),
            )}
          </Table>
        </div>
      )}
      {data.waiting && data.waiting.length > 0 && (
        <section className="card" aria-label="Waiting for bandwidth">
          <h2>Waiting for bandwidth</h2>
          <ul>
            {data.waiting.map((one) => (
              <li key={one.execution_id}>
                <Link to={`/executions/${one.execution_id}`}>{one.execution_id}</Link> of {one.user} (
                {one.tenant}): {one.sentence}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Requests />
      <StorageCharts />
    </>
  );
}

function Share({ of, achieved }: { of: number; achieved: number | undefined }) {
  if (of === 0) return <span className="faint">no guarantee</span>;
  if (achieved === undefined) return null;
  return (
    <meter min={0} max={of} value={Math.min(achieved, of)} aria-label="share of the grant that is used" />
  );
}
