import { useCallback, useState } from "react";
import { type HttpRequest, Upload } from "tus-js-client";
import { PROOF_HEADER } from "../../api/client";
import { Refused } from "../../api/problem";
import { proof } from "../../api/proof";
import { asName, below, type Root } from "./places";

const PART_BYTES = 16 << 20;
const PAUSES_MS = [0, 1000, 3000, 5000, 10_000];

export interface Going {
  id: number;
  name: string;
  sent: number;
  total: number;
  error: string | null;
  stop: () => void;
}

/** Uploads one file to a path; rejects with a sentence. */
export function uploadTo(root: Root, path: string, file: File): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: unknown) => reject(new Refused(0, "", `${file.name}: ${wordsOf(error)}`));
    new Upload(file, { ...optionsOf(root, path), onError, onSuccess: () => resolve() }).start();
  });
}

function optionsOf(root: Root, path: string) {
  return {
    endpoint: `/api/v1/files/${root}/uploads`,
    metadata: { path },
    chunkSize: PART_BYTES,
    retryDelays: PAUSES_MS,
    storeFingerprintForResuming: false,
    onBeforeRequest: (request: HttpRequest) => request.setHeader(PROOF_HEADER, proof()),
  };
}

let last = 0;

/** Uploads of this page. Each goes on after cuts; `onDone` is called when one is complete. */
export function useUploads(onDone: () => void) {
  const [going, setGoing] = useState<Going[]>([]);
  const change = useCallback(
    (id: number, what: Partial<Going>) =>
      setGoing((all) => all.map((one) => (one.id === id ? { ...one, ...what } : one))),
    [],
  );
  const remove = useCallback((id: number) => setGoing((all) => all.filter((one) => one.id !== id)), []);
  const add = useCallback(
    (root: Root, directory: string, files: File[]) => {
      for (const file of files) {
        last += 1;
        const id = last;
        const upload = new Upload(file, {
          ...optionsOf(root, below(directory, asName(file.name))),
          onProgress: (sent, total) => change(id, { sent, total: total ?? file.size }),
          onError: (error) => change(id, { error: wordsOf(error) }),
          onSuccess: () => {
            remove(id);
            onDone();
          },
        });
        const stop = () => {
          void upload.abort(true).catch(() => undefined);
          remove(id);
        };
        setGoing((all) => [...all, { id, name: file.name, sent: 0, total: file.size, error: null, stop }]);
        upload.start();
      }
    },
    [change, remove, onDone],
  );
  return { going, add };
}

/** The server's sentence, if there is one. */
function wordsOf(error: unknown): string {
  const body = (error as { originalResponse?: { getBody(): string } | null }).originalResponse?.getBody();
  try {
    const problem = JSON.parse(body ?? "") as { title: string; detail?: string };
    return problem.detail || problem.title;
  } catch {
    return "The connection was cut.";
  }
}
