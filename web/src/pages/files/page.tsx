import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, useCallback, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Dialog } from "../../components/dialog";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { num, Table } from "../../components/table";
import { bytes, moment } from "../../format";
import {
  asName,
  below,
  contentAddress,
  crumbs,
  labelOf,
  type Root,
  rootIn,
  rootsOf,
  shown,
  takesFiles,
} from "./places";
import { Preview } from "./preview";
import { type Going, useUploads } from "./uploads";

type Entry = Schemas["FileEntry"];

/** The files of the user's workspace, of the tenant's, and of the tenant's accounts in the object store. */
export default function FilesPage() {
  const [asked] = useSearchParams();
  const root = rootIn(asked.get("in"));
  const path = asked.get("path") ?? "";
  const { data } = useQuery({
    queryKey: ["storage", "credentials"],
    queryFn: () => told(api.GET("/api/v1/storage/credentials")),
  });
  return (
    <>
      <h1>Files</h1>
      <nav className="tabs" aria-label="Places">
        {rootsOf(data?.credentials.map((one) => one.service) ?? []).map((one) => (
          <Link key={one} to={addressOf(one, "")} aria-current={one === root ? "page" : undefined}>
            {labelOf(one)}
          </Link>
        ))}
      </nav>
      <Directory key={`${root}/${path}`} root={root} path={path} />
    </>
  );
}

function addressOf(root: Root, path: string): string {
  return `/files?in=${encodeURIComponent(root)}&path=${encodeURIComponent(path)}`;
}

function useListing(root: Root, path: string) {
  return useInfiniteQuery({
    queryKey: ["files", root, path],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      told(
        api.GET("/api/v1/files/{root}", {
          params: { path: { root }, query: { path, after: pageParam, limit: 500 } },
        }),
      ),
    getNextPageParam: (page) => page.next,
  });
}

function Directory({ root, path }: { root: Root; path: string }) {
  const mayChange = useMay("submit");
  const mayUpload = mayChange && takesFiles(root, path);
  const queries = useQueryClient();
  const renew = useCallback(
    () => void queries.invalidateQueries({ queryKey: ["files", root, path] }),
    [queries, root, path],
  );
  const { data, error, hasNextPage, fetchNextPage } = useListing(root, path);
  const { going, add } = useUploads(renew);
  const [over, setOver] = useState(false);
  const [opened, setOpened] = useState<Entry | null>(null);
  const [leaving, setLeaving] = useState<Entry | null>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (mayUpload) add(root, path, [...event.dataTransfer.files]);
  };
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files may be dropped anywhere here; a button does the same
    <div
      className={over ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(mayUpload);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Crumbs root={root} path={path} />
      {mayChange && (
        <Tools root={root} path={path} onFiles={(files) => add(root, path, files)} onMade={renew} />
      )}
      {going.map((one) => (
        <Progress key={one.id} going={one} />
      ))}
      <ErrorBox error={error} />
      {!data && !error && <Loading />}
      {data && entries.length === 0 && (
        <Empty>{mayUpload ? "This directory is empty: drop files here." : "Nothing is here."}</Empty>
      )}
      {entries.length > 0 && (
        <Table headings={["Name", num("Size"), "Changed", { text: "Actions", hidden: true }]}>
          {entries.map((entry) => (
            <Row
              key={`${entry.kind} ${entry.name}`}
              root={root}
              path={below(path, entry.name)}
              entry={entry}
              onOpen={() => setOpened(entry)}
              onDelete={mayChange ? () => setLeaving(entry) : null}
            />
          ))}
        </Table>
      )}
      {hasNextPage && (
        <button type="button" onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
      {opened && (
        <Dialog title={shown(opened.name)} onClose={() => setOpened(null)}>
          <Preview root={root} path={below(path, opened.name)} size={opened.size_bytes} />
          <div className="row">
            <a className="button" href={contentAddress(root, below(path, opened.name))} download>
              Download
            </a>
            <button type="button" onClick={() => setOpened(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
      {leaving && (
        <Delete
          root={root}
          path={below(path, leaving.name)}
          entry={leaving}
          onEnd={() => {
            setLeaving(null);
            renew();
          }}
        />
      )}
    </div>
  );
}

function Crumbs({ root, path }: { root: Root; path: string }) {
  return (
    <nav className="row" aria-label="Path">
      <Link to={addressOf(root, "")}>{labelOf(root)}</Link>
      {crumbs(path).map((one) => (
        <span key={one.path}>
          / <Link to={addressOf(root, one.path)}>{shown(one.name)}</Link>
        </span>
      ))}
    </nav>
  );
}

interface ToolsProps {
  root: Root;
  path: string;
  onFiles: (files: File[]) => void;
  onMade: () => void;
}

function Tools({ root, path, onFiles, onMade }: ToolsProps) {
  const [name, setName] = useState("");
  const make = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/files/{root}/directories", {
          params: { path: { root } },
          body: { path: below(path, asName(name)) },
        }),
      ),
    onSuccess: () => {
      setName("");
      onMade();
    },
  });
  return (
    <>
      <div className="row">
        {takesFiles(root, path) && (
          <label className="button">
            Upload files
            <input
              className="sr"
              type="file"
              multiple
              onChange={(event) => {
                onFiles([...(event.target.files ?? [])]);
                event.target.value = "";
              }}
            />
          </label>
        )}
        <form
          className="row"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            make.mutate();
          }}
        >
          <label>
            {takesFiles(root, path) ? "New directory" : "New container"}{" "}
            <input
              value={name}
              onChange={(e) => setName(e.target.value)}
              required
              maxLength={255}
              pattern="[^\/]+"
            />
          </label>
          <button type="submit" disabled={make.isPending}>
            Make
          </button>
        </form>
      </div>
      <ErrorBox error={make.error} />
    </>
  );
}

function Progress({ going }: { going: Going }) {
  return (
    <div className="row">
      <span>{going.name}</span>
      {going.error === null ? (
        <progress value={going.sent} max={Math.max(going.total, 1)} aria-label={`Upload of ${going.name}`} />
      ) : (
        <span role="alert">{going.error}</span>
      )}
      <button type="button" onClick={going.stop}>
        {going.error === null ? "Stop" : "Dismiss"}
      </button>
    </div>
  );
}

interface RowProps {
  root: Root;
  path: string;
  entry: Entry;
  onOpen: () => void;
  onDelete: (() => void) | null;
}

function Row({ root, path, entry, onOpen, onDelete }: RowProps) {
  const name = shown(entry.name);
  return (
    <tr>
      <td>
        {entry.kind === "directory" && <Link to={addressOf(root, path)}>{name}/</Link>}
        {entry.kind === "file" && (
          <button type="button" className="link" onClick={onOpen}>
            {name}
          </button>
        )}
        {entry.kind === "other" && <span className="faint">{name} (not a file)</span>}
      </td>
      <td className="num">{entry.kind === "file" ? bytes(entry.size_bytes) : ""}</td>
      <td>{entry.modified_at_s > 0 ? moment(entry.modified_at_s) : ""}</td>
      <td className="num">
        <span className="row">
          {entry.kind === "file" && (
            <a className="button" href={contentAddress(root, path)} download aria-label={`Download ${name}`}>
              Download
            </a>
          )}
          {onDelete && (
            <button type="button" onClick={onDelete} aria-label={`Delete ${name}`}>
              Delete
            </button>
          )}
        </span>
      </td>
    </tr>
  );
}

function Delete({ root, path, entry, onEnd }: { root: Root; path: string; entry: Entry; onEnd: () => void }) {
  const directory = entry.kind === "directory" && !entry.link;
  const remove = useMutation({
    mutationFn: () =>
      told(
        api.DELETE("/api/v1/files/{root}", {
          params: { path: { root }, query: { path, recursive: directory } },
        }),
      ),
    onSuccess: onEnd,
  });
  return (
    <Dialog title={`Delete ${shown(entry.name)}?`} onClose={onEnd}>
      <p>{directory ? "The directory and all that is in it are deleted." : "It is deleted for good."}</p>
      <ErrorBox error={remove.error} />
      <div className="row">
        <button type="button" className="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </button>
        <button type="button" onClick={onEnd}>
          Keep
        </button>
      </div>
    </Dialog>
  );
}
