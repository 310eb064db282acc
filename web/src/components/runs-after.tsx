import { Link } from "react-router";
import type { Schemas } from "../api/client";
import { isArray } from "../pages/arrays/ids";

const ENDS_AS = { ok: "success of", fail: "failure of", any: "end of" };

/** The executions and arrays that must end first. */
export function RunsAfter({ after }: { after: Schemas["DependencyView"][] }) {
  return after.map((one) => (
    <div key={`${one.kind}:${one.on}`}>
      {ENDS_AS[one.kind]} <UnitLink id={one.on} />
      {one.met === false && " (not met)"}
    </div>
  ));
}

/** A link to the page of an execution or an array. */
export function UnitLink({ id }: { id: string }) {
  return <Link to={isArray(id) ? `/arrays/${id}` : `/executions/${id}`}>{id}</Link>;
}
