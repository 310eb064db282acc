import type { Schemas } from "../../api/client";

/** An execution as the API shows it. */
export type Execution = Schemas["ExecutionView"];
