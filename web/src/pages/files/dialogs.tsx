import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, type Schemas, told } from "../../api/client";
import { asRefused, Refused } from "../../api/problem";
import { Dialog } from "../../components/dialog";
import { ErrorBox } from "../../components/feedback";
import { FieldErrors, Labelled } from "../../components/field-errors";
import { counted } from "../../format";
import { below, type Root, renamed, shown } from "./places";

type Entry = Schemas["FileEntry"];

interface DeleteProps {
  root: Root;
  directory: string;
  entries: Entry[];
  onEnd: () => void;
}

/** Asks before entries are deleted. */
export function DeleteDialog({ root, directory, entries, onEnd }: DeleteProps) {
  const [first] = entries;
  const title =
    entries.length === 1 && first ? shown(first.name) : counted(entries.length, "entry", "entries");
  const remove = useMutation({
    mutationFn: () => removed(root, directory, entries),
    onSuccess: onEnd,
    meta: { done: () => `${title} ${entries.length === 1 ? "is" : "are"} deleted.` },
  });
  const deep = entries.some(isTree);
  return (
    <Dialog title={`Delete ${title}?`} onClose={onEnd}>
      {entries.length > 1 && <p>{entries.map((one) => shown(one.name)).join(", ")}</p>}
      <p>{deep ? "Directories and all that is in them are deleted." : "Deleted for good."}</p>
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

/** Deletes one after the other; throws Refused with all that could not be deleted. */
async function removed(root: Root, directory: string, entries: Entry[]): Promise<void> {
  const errors = [];
  for (const entry of entries) {
    const query = { path: below(directory, entry.name), recursive: isTree(entry) };
    try {
      await told(api.DELETE("/api/v1/files/{root}", { params: { path: { root }, query } }));
    } catch (error) {
      const { code, message, hint } = asRefused(error);
      errors.push({ pointer: "", code, message: `${shown(entry.name)}: ${message}`, hint });
    }
  }
  if (errors.length > 0) throw new Refused(409, "", "Not all was deleted", "", errors);
}

/** Whether there may be something in it; of a link, only the link is deleted. */
function isTree({ kind, link }: Entry): boolean {
  return kind === "directory" && !link;
}

interface RenameProps {
  root: Root;
  directory: string;
  entry: Entry;
  onEnd: () => void;
}

/** Renames an entry, or moves it to another directory. */
export function RenameDialog({ root, directory, entry, onEnd }: RenameProps) {
  const path = below(directory, entry.name);
  const [to, setTo] = useState(shown(path));
  const rename = useMutation({
    mutationFn: () =>
      told(
        api.POST("/api/v1/files/{root}/rename", {
          params: { path: { root } },
          body: { path, to: renamed(path, to) },
        }),
      ),
    onSuccess: onEnd,
    meta: { done: () => `It is ${to} now.` },
  });
  return (
    <Dialog title={`Rename ${shown(entry.name)}`} onClose={onEnd}>
      <FieldErrors error={rename.error} labels={{ to: "New path" }}>
        <form
          className="stacked"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            rename.mutate();
          }}
        >
          <Labelled field="to" label="New path, from the top of these files">
            <input
              value={to}
              required
              maxLength={4095}
              spellCheck={false}
              onChange={(e) => setTo(e.target.value)}
            />
          </Labelled>
          <ErrorBox error={rename.error} />
          <div className="row">
            <button type="submit" className="primary" disabled={rename.isPending || to === shown(path)}>
              Rename
            </button>
            <button type="button" onClick={onEnd}>
              Keep the name
            </button>
          </div>
        </form>
      </FieldErrors>
    </Dialog>
  );
}
