import { progressText } from "./progress";
import type { Execution } from "./types";

/** How far the program says it is. */
export function ProgressBar({ execution }: { execution: Execution }) {
  const progress = execution.progress;
  if (!progress) return null;
  return (
    <div className="card">
      <div className="meter">
        <span>Progress</span>
        {progress.share !== null && <progress max={1} value={progress.share} aria-label="Progress" />}
        <span className="num">{progressText(progress)}</span>
      </div>
      {progress.problem && <p className="faint">Progress not understood: {progress.problem}</p>}
    </div>
  );
}
