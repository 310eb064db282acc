import { api, told } from "../../api/client";
import { indicesText, isArray } from "../arrays/ids";

/** What was submitted before: an execution, or an array. */
export interface Made {
  id: string;
  name: string;
  description: Record<string, unknown>;
  /** Of an array; else empty. */
  indices: string;
}

export async function madeBy(id: string): Promise<Made> {
  if (isArray(id)) {
    const array = await told(api.GET("/api/v1/arrays/{array_id}", { params: { path: { array_id: id } } }));
    return { ...array, indices: indicesText(array) };
  }
  const params = { path: { execution_id: id } };
  return { ...(await told(api.GET("/api/v1/executions/{execution_id}", { params }))), indices: "" };
}
