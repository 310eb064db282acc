import type { WidgetProps } from "@rjsf/utils";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../../api/client";
import { Refused } from "../../api/problem";
import { Dialog } from "../../components/dialog";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { useSettled } from "../../components/settled";
import { asName, below, endingOf, formName, labelOf, placeOf, type Root, shown } from "../files/places";
import { isThere } from "../files/there";
import { uploadTo } from "../files/uploads";

const SETTLED_MS = 400;

/** The field of a form for a script of the ending that its entry runs. */
export function ScriptFile({ id, value, onChange, registry }: WidgetProps) {
  const ending = (registry.formContext as { script?: string }).script ?? "";
  return (
    <FileField
      id={id}
      describedBy={`${id}__error`}
      value={String(value ?? "")}
      endings={[ending]}
      onChange={(name) => onChange(name === "" ? undefined : name)}
    />
  );
}

interface FileFieldProps {
  id: string;
  /** The id of what is said about it. */
  describedBy?: string;
  value: string;
  endings: string[];
  onChange: (name: string) => void;
}

/** A file of the user: typed, chosen among the files, or uploaded from this computer to the workspace. */
export function FileField({ id, describedBy, value: name, endings, onChange }: FileFieldProps) {
  const [choosing, setChoosing] = useState(false);
  const missing = useMissing(name);
  const upload = useMutation({
    mutationFn: async (file: File) => {
      const path = asName(file.name);
      if (!endings.includes(endingOf(path)))
        throw new Refused(
          0,
          "",
          `${file.name} does not end with ${endings.join(", ")}`,
          "Choose another file.",
        );
      if (await isThere("workspace", path)) {
        const question = `Your workspace already has ${file.name}. Replace it by the one of this computer?`;
        if (!window.confirm(question)) return path;
      }
      await uploadTo("workspace", path, file);
      return path;
    },
    onSuccess: (path) => onChange(path),
  });
  return (
    <>
      <div className="row">
        <input
          id={id}
          aria-describedby={describedBy}
          className="wide"
          value={name}
          placeholder={`train${endings[0]}`}
          maxLength={4095}
          spellCheck={false}
          onChange={(e) => onChange(e.target.value)}
        />
        <button type="button" onClick={() => setChoosing(true)}>
          Choose from Files
        </button>
        <label className="button">
          Upload from this computer
          <input
            className="sr"
            type="file"
            accept={endings.join(",")}
            onChange={(event) => {
              const [file] = event.target.files ?? [];
              if (file) upload.mutate(file);
              event.target.value = "";
            }}
          />
        </label>
      </div>
      {upload.isPending && <Loading what="Uploading" />}
      <ErrorBox error={upload.error} />
      {missing && <p role="alert">{missing}</p>}
      {choosing && (
        <Choose
          endings={endings}
          onChoose={(chosen) => {
            setChoosing(false);
            onChange(chosen);
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

/** Throws Refused unless the file that a form names is there. */
export async function checkFile(name: string): Promise<void> {
  const { root, path } = placeOf(name);
  if (path !== "" && !(await isThere(root, path)))
    throw new Refused(404, "", "The script is not there", "", [
      {
        pointer: "/file",
        code: "",
        message: sentence(name),
        hint: "Choose one of your files, or upload it from your computer.",
      },
    ]);
}

function sentence(name: string): string {
  const { root, path } = placeOf(name);
  return `${labelOf(root)} has no file ${shown(path)}`;
}

/** What to say of a file that is not there; empty while that is not known. */
function useMissing(name: string): string {
  const settled = useSettled(name, SETTLED_MS);
  const { root, path } = placeOf(settled);
  const { data } = useQuery({
    queryKey: ["file", root, path],
    queryFn: () => isThere(root, path),
    enabled: path !== "",
    retry: false,
  });
  return data === false && name === settled ? `${sentence(settled)}: choose one, or upload it.` : "";
}

interface ChooseProps {
  endings: string[];
  onChoose: (name: string) => void;
  onClose: () => void;
}

/** The user's files with these endings, directory by directory. */
function Choose({ endings, onChoose, onClose }: ChooseProps) {
  const [root, setRoot] = useState<Root>("workspace");
  const [path, setPath] = useState("");
  const { data, error } = useQuery({
    queryKey: ["files", root, path, "to choose"],
    queryFn: () =>
      told(api.GET("/api/v1/files/{root}", { params: { path: { root }, query: { path, limit: 1000 } } })),
  });
  const entries = (data?.entries ?? []).filter(
    ({ kind, name }) => kind === "directory" || (kind === "file" && endings.includes(endingOf(name))),
  );
  return (
    <Dialog title={`Choose a file ${endings.join(", ")}`} onClose={onClose}>
      <label>
        In{" "}
        <select
          value={root}
          onChange={(e) => {
            setRoot(e.target.value as Root);
            setPath("");
          }}
        >
          {(["workspace", "shared"] as const).map((one) => (
            <option key={one} value={one}>
              {labelOf(one)}
            </option>
          ))}
        </select>
      </label>
      <ErrorBox error={error} />
      {!data && !error && <Loading />}
      <ul className="choices">
        {path !== "" && (
          <li>
            <button
              type="button"
              className="link"
              onClick={() => setPath(path.split("/").slice(0, -1).join("/"))}
            >
              .. (up)
            </button>
          </li>
        )}
        {entries.map(({ kind, name }) => (
          <li key={name}>
            <button
              type="button"
              className="link"
              onClick={() =>
                kind === "directory"
                  ? setPath(below(path, name))
                  : onChoose(formName(root, below(path, name)) ?? "")
              }
            >
              {shown(name)}
              {kind === "directory" && "/"}
            </button>
          </li>
        ))}
      </ul>
      {data && entries.length === 0 && <Empty>No file here ends with {endings.join(", ")}.</Empty>}
      {data?.next && <p className="faint">The first 1000 entries. Type the path of others.</p>}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
