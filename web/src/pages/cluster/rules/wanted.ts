import type { Schemas } from "../../../api/client";

/** What the form of a job asks for. */
export interface Wanted {
  target: string;
  undo: boolean;
  dryRun: boolean;
  megabytes: string;
}

const MB = 1e6;
const RATE_MIN = 100_000;

/** The job that the fields say, or why they say none. */
export function wantedOf(fields: Wanted): Schemas["StorageRewriteRequest"] | string {
  const [tenant = "", container = "", ...more] = fields.target.trim().split("/");
  if (tenant === "") return "Name a tenant, or a container as tenant/container.";
  if (more.length > 0 || (container === "" && fields.target.includes("/")))
    return "Objects of a tenant or of a container: tenant/container.";
  const rate = fields.megabytes.trim() === "" ? null : Math.round(Number(fields.megabytes) * MB);
  if (rate !== null && !(rate >= RATE_MIN)) return "The rate is a number of at least 0.1 MB per second.";
  return { tenant, container, plain: fields.undo, dry_run: fields.dryRun, bytes_per_s: rate };
}

/** Why a rule cannot be tried for an object of this name; empty if it can. */
export function whyNoTrial(name: string): string {
  const [tenant = "", container = "", ...object] = name.split("/");
  const whole = tenant !== "" && container !== "" && object.join("/") !== "";
  return whole ? "" : "To try it, name an object as tenant/container/object.";
}
