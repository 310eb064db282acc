import { bytes, moment } from "../../format";
import type { Execution } from "./types";

/** What an execution moved to and from the object store: so far, or in the end. */
export function movedText(moved: NonNullable<Execution["transfers"]>): string {
  const amounts = `${bytes(moved.read_bytes)} read, ${bytes(moved.written_bytes)} written`;
  const least = moved.whole ? "" : ", at least";
  return amounts + least + (moved.final ? "" : `, as of ${moment(moved.at_s)}`);
}
