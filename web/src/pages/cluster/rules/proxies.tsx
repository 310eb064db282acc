import type { Schemas } from "../../../api/client";
import { Table } from "../../../components/table";
import { duration } from "../../../format";

const SILENT_S = 2;

/** Which filters each proxy can carry out, and how long it has been silent. */
export function Proxies({ proxies }: { proxies: Schemas["StorageProxyView"][] }) {
  if (proxies.length === 0) return null;
  return (
    <section className="card" aria-label="Proxies">
      <h2>What is active where</h2>
      <Table headings={["Proxy", "Reported", "Filters"]}>
        {proxies.map(({ name, silent_s: silentS, filters }) => (
          <tr key={name}>
            <td className="long">{name}</td>
            <td>
              {silentS == null ? "never" : `${duration(silentS)} ago`}{" "}
              {(silentS == null || silentS > SILENT_S) && <span className="badge bad">silent</span>}
            </td>
            <td className="long">{filters.join(", ")}</td>
          </tr>
        ))}
      </Table>
      <p className="faint">
        A proxy reports four times a second. A rule is carried out once each proxy that ever reported has all
        of its filters.
      </p>
    </section>
  );
}
