import { CopyButton, saveAs } from "../../components/files";
import type { Execution } from "./types";

export function DescriptionTab({ execution }: { execution: Execution }) {
  const text = JSON.stringify(execution.description, null, 2);
  return (
    <div className="card">
      <div className="row">
        <CopyButton text={text} />
        <button
          type="button"
          onClick={() => saveAs(`${execution.application}.json`, text, "application/json")}
        >
          Download
        </button>
      </div>
      <pre className="scroll" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
