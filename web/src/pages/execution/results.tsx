import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { useSession } from "../../api/session";
import { Dialog } from "../../components/dialog";
import { ErrorBox, Loading } from "../../components/feedback";
import { num, Table } from "../../components/table";
import { bytes, moment } from "../../format";
import { contentAddress, shown } from "../files/places";
import { Preview } from "../files/preview";
import type { Execution } from "./types";

type File = Schemas["ResultFile"];

const ASK_AGAIN_MS = 10_000;

/** The files that the description says it leaves in the workspace; nothing where it names none. */
export function Results({ execution }: { execution: Execution }) {
  const patterns = execution.description.results;
  if (!Array.isArray(patterns) || patterns.length === 0) return null;
  return (
    <section className="card" aria-label="Results">
      <h2>Results</h2>
      <Files execution={execution} />
    </section>
  );
}

function Files({ execution }: { execution: Execution }) {
  const { user, tenant } = useSession();
  const owned = user === execution.user && tenant === execution.tenant;
  const [opened, setOpened] = useState<File | null>(null);
  const { data, error } = useQuery({
    queryKey: ["execution", execution.id, "results", execution.state],
    queryFn: () =>
      told(
        api.GET("/api/v1/executions/{execution_id}/results", {
          params: { path: { execution_id: execution.id } },
        }),
      ),
    placeholderData: (before) => before,
    refetchInterval: execution.outcome === null ? ASK_AGAIN_MS : false,
    enabled: owned,
  });
  if (!owned) return <p>They are in the workspace of {execution.user}: ask for a copy in the shared one.</p>;
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Looking for the files" />;
  return (
    <>
      {data.files.length > 0 && (
        <Table headings={["File", num("Size"), "Changed", { text: "Actions", hidden: true }]}>
          {data.files.map((file) => (
            <Row key={file.path} file={file} onOpen={() => setOpened(file)} />
          ))}
        </Table>
      )}
      {data.unmatched.map((pattern) => (
        <p key={pattern}>
          {execution.outcome === null ? "There is no file " : "It left no file "}
          <code>{pattern}</code>
          {execution.outcome === null ? " yet." : "."}
        </p>
      ))}
      {!data.complete && <p className="faint">There are more files than are listed here.</p>}
      {opened && (
        <Dialog title={shown(opened.path)} onClose={() => setOpened(null)}>
          <Preview root="workspace" path={opened.path} size={opened.size_bytes} />
          <div className="row">
            <a className="button" href={contentAddress("workspace", opened.path)} download>
              Download
            </a>
            <button type="button" onClick={() => setOpened(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Row({ file, onOpen }: { file: File; onOpen: () => void }) {
  const name = shown(file.path);
  return (
    <tr>
      <td>
        <button type="button" className="link" onClick={onOpen}>
          {name}
        </button>
      </td>
      <td className="num">{bytes(file.size_bytes)}</td>
      <td>{moment(file.modified_at_s)}</td>
      <td className="num">
        <a
          className="button"
          href={contentAddress("workspace", file.path)}
          download
          aria-label={`Download ${name}`}
        >
          Download
        </a>
      </td>
    </tr>
  );
}
