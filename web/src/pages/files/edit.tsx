import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { fetchSignedIn } from "../../api/client";
import { asRefused, refusedBy } from "../../api/problem";
import { Dialog } from "../../components/dialog";
import { ErrorBox, Loading, ProblemBox } from "../../components/feedback";
import { useUnsaved } from "../../components/unsaved";
import { contentAddress, type Root, shown } from "./places";
import { EDIT_BYTES_MAX, readText, type TextFile, writeText } from "./text-file";
import { uploadTo } from "./uploads";

const QUESTION = "Close without saving your changes?";

interface EditProps {
  root: Root;
  path: string;
  onClose: () => void;
}

/** Edits a text, and writes it back unless somebody else has changed it meanwhile. */
export function EditDialog({ root, path, onClose }: EditProps) {
  const [round, setRound] = useState(0);
  const unsaved = useRef(false);
  const close = () => {
    if (unsaved.current && !window.confirm(QUESTION)) return false;
    onClose();
    return true;
  };
  const { data, error } = useQuery({
    queryKey: ["text", root, path, round],
    queryFn: () => opened(root, path),
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog title={`Edit ${shown(path.split("/").at(-1) ?? "")}`} onClose={close}>
      <ErrorBox error={error} />
      {!data && !error && <Loading what="Reading" />}
      {typeof data?.found === "string" && (
        <ProblemBox title="This file cannot be edited here" text={data.found} />
      )}
      {data && typeof data.found !== "string" ? (
        <Editor
          key={round}
          root={root}
          path={path}
          begun={data.found}
          tag={data.tag}
          onReload={() => setRound(round + 1)}
          onChange={(changed) => {
            unsaved.current = changed;
          }}
          onClose={close}
        />
      ) : (
        <button type="button" onClick={onClose}>
          Close
        </button>
      )}
    </Dialog>
  );
}

interface EditorProps extends EditProps {
  begun: TextFile;
  tag: string;
  onReload: () => void;
  /** Called with whether the text differs from the file. */
  onChange: (changed: boolean) => void;
}

function Editor({ root, path, begun, tag, onReload, onChange, onClose }: EditorProps) {
  const [text, setText] = useState(begun.text);
  const [known, setKnown] = useState({ tag, text: begun.text });
  const [conflict, setConflict] = useState(false);
  const changed = text !== known.text;
  useEffect(() => onChange(changed));
  useUnsaved(changed, QUESTION);
  const save = useMutation({
    mutationFn: async (over: boolean) => {
      if (!over && (await tagOf(root, path)) !== known.tag) return null;
      await uploadTo(root, path, new File([writeText({ ...begun, text })], path));
      return { tag: await tagOf(root, path), text };
    },
    onSuccess: (saved) => {
      setConflict(saved === null);
      if (saved) setKnown(saved);
    },
  });
  return (
    <>
      <textarea
        className="wide mono text-editor"
        aria-label={`Text of ${shown(path)}`}
        spellCheck={false}
        value={text}
        onChange={(e) => setText(e.target.value)}
      />
      <ErrorBox error={save.error} />
      {conflict && (
        <ProblemBox
          title="The file has changed since you opened it"
          text="Your text is not saved. Copy what you need of it before you read the file again."
        >
          <div className="row">
            <button type="button" onClick={() => save.mutate(true)}>
              Replace it by mine
            </button>
            <button type="button" onClick={onReload}>
              Read it again
            </button>
          </div>
        </ProblemBox>
      )}
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={!changed || save.isPending}
          onClick={() => save.mutate(false)}
        >
          Save
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
        <span role="status">{save.isPending ? "Saving …" : !changed && save.data ? "Saved." : ""}</span>
      </div>
    </>
  );
}

async function opened(root: Root, path: string): Promise<{ found: TextFile | string; tag: string }> {
  const answer = await request(root, path, { headers: { Range: `bytes=0-${EDIT_BYTES_MAX}` } });
  // An empty file has no range.
  const bytes = answer.status === 416 ? new Uint8Array() : new Uint8Array(await answer.arrayBuffer());
  const tag = answer.headers.get("etag") ?? (await tagOf(root, path));
  return { found: readText(bytes), tag };
}

/** What tells one content of the file from the next; empty if the file is gone. */
async function tagOf(root: Root, path: string): Promise<string> {
  const answer = await request(root, path, { method: "HEAD" });
  return answer.headers.get("etag") ?? "";
}

async function request(root: Root, path: string, init: RequestInit): Promise<Response> {
  const address = new URL(contentAddress(root, path), window.location.href);
  const answer = await fetchSignedIn(new Request(address, init)).catch((error) => {
    throw asRefused(error);
  });
  const gone = init.method === "HEAD" && answer.status === 404;
  if (!answer.ok && answer.status !== 416 && !gone)
    throw refusedBy(answer.status, init.method === "HEAD" ? null : await answer.json());
  return answer;
}
