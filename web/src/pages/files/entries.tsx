import { Link } from "react-router";
import type { Schemas } from "../../api/client";
import { num, Table } from "../../components/table";
import { bytes, counted, moment } from "../../format";
import { useCatalogue } from "../catalogue/page";
import {
  archiveAddress,
  below,
  contentAddress,
  directoryAddress,
  endingOf,
  formName,
  type Root,
  shown,
} from "./places";

type Entry = Schemas["FileEntry"];

export interface Wishes {
  onOpen: (entry: Entry) => void;
  onRename: (entry: Entry) => void;
  onDelete: (entries: Entry[]) => void;
}

interface EntriesProps extends Wishes {
  root: Root;
  directory: string;
  entries: Entry[];
  mayChange: boolean;
  chosen: ReadonlySet<string>;
  onChoose: (names: ReadonlySet<string>) => void;
}

/** The entries of a directory; several can be chosen. */
export function Entries({ root, directory, entries, mayChange, chosen, onChoose, ...wishes }: EntriesProps) {
  const runAddress = useRunAddress();
  const all = entries.filter((entry) => chosen.has(entry.name));
  const chooseAll = () => onChoose(new Set(entries.map((entry) => entry.name)));
  return (
    <>
      {all.length === 0 && (
        <div className="row">
          <button type="button" onClick={chooseAll}>
            Choose all
          </button>
        </div>
      )}
      {all.length > 0 && (
        <Chosen
          root={root}
          directory={directory}
          entries={all}
          onDelete={mayChange ? () => wishes.onDelete(all) : null}
          onAll={all.length < entries.length ? chooseAll : null}
          onNone={() => onChoose(new Set())}
        />
      )}
      <div className="card">
        <Table
          headings={[
            { text: "Choose", hidden: true },
            "Name",
            num("Size"),
            "Changed",
            { text: "Actions", hidden: true },
          ]}
        >
          {entries.map((entry) => (
            <Row
              key={`${entry.kind} ${entry.name}`}
              root={root}
              path={below(directory, entry.name)}
              entry={entry}
              run={mayChange && entry.kind === "file" ? runAddress(root, below(directory, entry.name)) : null}
              mayChange={mayChange}
              chosen={chosen.has(entry.name)}
              onChoose={(on) => {
                const others = [...chosen].filter((name) => name !== entry.name);
                onChoose(new Set(on ? [...others, entry.name] : others));
              }}
              {...wishes}
            />
          ))}
        </Table>
      </div>
    </>
  );
}

/** Returns the address of the filled form that runs a file; null if none does. */
function useRunAddress() {
  const { data } = useCatalogue();
  return (root: Root, path: string) => {
    const ending = endingOf(path);
    const entry = data?.entries.find((one) => one.script === ending && ending !== "");
    const file = formName(root, path);
    if (!entry || entry.unavailable || file === null) return null;
    return `/catalogue/${entry.id}?${new URLSearchParams({ file })}`;
  };
}

interface ChosenProps {
  root: Root;
  directory: string;
  entries: Entry[];
  onDelete: (() => void) | null;
  /** Null: all are chosen. */
  onAll: (() => void) | null;
  onNone: () => void;
}

function Chosen({ root, directory, entries, onDelete, onAll, onNone }: ChosenProps) {
  const address = archiveAddress(
    root,
    entries.map((entry) => below(directory, entry.name)),
  );
  return (
    <div className="row notice" role="status">
      <span>{counted(entries.length, "entry", "entries")} chosen</span>
      {address === null ? (
        <span className="faint">Too many for one download: choose fewer, or download their directory.</span>
      ) : (
        <a className="button" href={address} download>
          Download as zip
        </a>
      )}
      {onDelete && (
        <button type="button" className="danger" onClick={onDelete}>
          Delete the chosen
        </button>
      )}
      {onAll && (
        <button type="button" onClick={onAll}>
          Choose all
        </button>
      )}
      <button type="button" onClick={onNone}>
        Choose none
      </button>
    </div>
  );
}

interface RowProps extends Wishes {
  root: Root;
  path: string;
  entry: Entry;
  /** The address of the form that runs it, if one does. */
  run: string | null;
  mayChange: boolean;
  chosen: boolean;
  onChoose: (on: boolean) => void;
}

function Row({ root, path, entry, run, mayChange, chosen, onChoose, ...wishes }: RowProps) {
  const name = shown(entry.name);
  const zip = entry.kind === "directory" && !entry.link ? archiveAddress(root, [path]) : null;
  const verb = zip ? "Zip" : "Download";
  const download = entry.kind === "file" ? contentAddress(root, path) : zip;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${name}`}
          checked={chosen}
          onChange={(e) => onChoose(e.target.checked)}
        />
      </td>
      <td className="title">
        {entry.kind === "directory" && <Link to={directoryAddress(root, path)}>{name}/</Link>}
        {entry.kind === "file" && (
          <button type="button" className="link" onClick={() => wishes.onOpen(entry)}>
            {name}
          </button>
        )}
        {entry.kind === "other" && <span className="faint">{name} (not a file)</span>}
      </td>
      <td className="num">{entry.kind === "file" ? bytes(entry.size_bytes) : ""}</td>
      <td>{entry.modified_at_s > 0 ? moment(entry.modified_at_s) : ""}</td>
      <td className="num">
        <span className="row">
          {run && (
            <Link className="button" to={run} aria-label={`Run ${name}`}>
              Run
            </Link>
          )}
          {download && (
            <a className="button" href={download} download aria-label={`${verb} ${name}`}>
              {verb}
            </a>
          )}
          {mayChange && (
            <>
              <button type="button" onClick={() => wishes.onRename(entry)} aria-label={`Rename ${name}`}>
                Rename
              </button>
              <button type="button" onClick={() => wishes.onDelete([entry])} aria-label={`Delete ${name}`}>
                Delete
              </button>
            </>
          )}
        </span>
      </td>
    </tr>
  );
}
