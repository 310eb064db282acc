import type { Policy } from "./policy-api";

/** What a policy may choose, as docs/reference/policy.md names it. */
export const ORDERS: Policy["order"][] = [
  "fifo",
  "sjf",
  "size",
  "srpt",
  "hrrn",
  "las",
  "psbs",
  "edf",
  "fair-share",
  "wfp3",
  "unicef",
  "f1",
  "f2",
  "f3",
  "f4",
  "learned-ratio",
];
export const BACKFILLS: Policy["backfill"][] = ["none", "easy", "easy-sjbf", "conservative"];
