import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, useCallback, useEffect, useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Dialog } from "../../components/dialog";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { DeleteDialog, RenameDialog } from "./dialogs";
import { EditDialog } from "./edit";
import { Entries } from "./entries";
import {
  asName,
  below,
  contentAddress,
  crumbs,
  directoryAddress,
  fileAddress,
  labelOf,
  type Root,
  rootIn,
  rootsOf,
  shown,
  takesFiles,
} from "./places";
import { Preview } from "./preview";
import { EDIT_BYTES_MAX } from "./text-file";
import { isThere } from "./there";
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
          <Link key={one} to={directoryAddress(one, "")} aria-current={one === root ? "page" : undefined}>
            {labelOf(one)}
          </Link>
        ))}
      </nav>
      <Directory key={`${root}/${path}`} root={root} path={path} />
    </>
  );
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
  const navigate = useNavigate();
  const [asked] = useSearchParams();
  const wanted = asked.get("file");
  const setOpened = (entry: Entry | null) =>
    void navigate(entry === null ? directoryAddress(root, path) : fileAddress(root, path, entry.name));
  const [editing, setEditing] = useState<Entry | null>(null);
  const [renaming, setRenaming] = useState<Entry | null>(null);
  const [leaving, setLeaving] = useState<Entry[]>([]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (mayUpload) void upload([...event.dataTransfer.files]);
  };
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  const opened = entries.find((one) => one.name === wanted && one.kind === "file") ?? null;
  const isSought = wanted !== null && opened === null;
  useEffect(() => {
    if (isSought && hasNextPage) void fetchNextPage();
  }, [isSought, hasNextPage, fetchNextPage]);
  const upload = async (files: File[]) => {
    const wanted: File[] = [];
    for (const file of files) {
      const name = asName(file.name);
      const question = `${labelOf(root)} already has ${name} here. Replace it?`;
      if (!(await isThere(root, below(path, name))) || window.confirm(question)) wanted.push(file);
    }
    add(root, path, wanted);
  };
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
      {mayChange && <Tools root={root} path={path} onFiles={(files) => void upload(files)} onMade={renew} />}
      {going.map((one) => (
        <Progress key={one.id} going={one} />
      ))}
      <ErrorBox error={error} />
      {!data && !error && <Loading />}
      {data && entries.length === 0 && (
        <Empty>{mayUpload ? "This directory is empty: drop files here." : "Nothing is here."}</Empty>
      )}
      {entries.length > 0 && (
        <Entries
          root={root}
          directory={path}
          entries={entries}
          mayChange={mayChange}
          chosen={chosen}
          onChoose={setChosen}
          onOpen={setOpened}
          onRename={setRenaming}
          onDelete={setLeaving}
        />
      )}
      {hasNextPage && (
        <button type="button" onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
      {data && isSought && !hasNextPage && <Empty>{shown(wanted)} is not here, or not a file.</Empty>}
      {opened && (
        <Dialog title={shown(opened.name)} onClose={() => setOpened(null)}>
          <Preview root={root} path={below(path, opened.name)} size={opened.size_bytes} />
          <div className="row">
            <a className="button" href={contentAddress(root, below(path, opened.name))} download>
              Download
            </a>
            {mayChange && opened.size_bytes <= EDIT_BYTES_MAX && (
              <button
                type="button"
                onClick={() => {
                  setEditing(opened);
                  setOpened(null);
                }}
              >
                Edit
              </button>
            )}
            <button type="button" onClick={() => setOpened(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
      {editing && (
        <EditDialog
          root={root}
          path={below(path, editing.name)}
          onClose={() => {
            setEditing(null);
            renew();
          }}
        />
      )}
      {renaming && (
        <RenameDialog
          root={root}
          directory={path}
          entry={renaming}
          onEnd={() => {
            setRenaming(null);
            renew();
          }}
        />
      )}
      {leaving.length > 0 && (
        <DeleteDialog
          root={root}
          directory={path}
          entries={leaving}
          onEnd={() => {
            setLeaving([]);
            setChosen(new Set());
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
      <Link to={directoryAddress(root, "")}>{labelOf(root)}</Link>
      {crumbs(path).map((one) => (
        <span key={one.path}>
          / <Link to={directoryAddress(root, one.path)}>{shown(one.name)}</Link>
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
    meta: { done: () => `${name} is made.` },
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
