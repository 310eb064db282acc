import { api, told } from "../../api/client";
import { indicesText, isArray } from "../arrays/ids";
import { hiddenNames } from "./hidden";

/** What was submitted before: an execution, or an array. */
export interface Made {
  id: string;
  name: string;
  description: Record<string, unknown>;
  /** Variables and files whose contents their owner sees only. */
  hidden: string[];
  /** Of an array; else empty. */
  indices: string;
}

export async function madeBy(id: string): Promise<Made> {
  if (isArray(id)) {
    const array = await told(api.GET("/api/v1/arrays/{array_id}", { params: { path: { array_id: id } } }));
    return { ...array, indices: indicesText(array), hidden: await hiddenFrom(array) };
  }
  const params = { path: { execution_id: id } };
  const execution = await told(api.GET("/api/v1/executions/{execution_id}", { params }));
  return { ...execution, indices: "", hidden: await hiddenFrom(execution) };
}

interface Owned {
  user: string;
  tenant: string;
  description: Record<string, unknown>;
}

/** What is hidden from the user of this session, who is neither its owner nor an operator. */
async function hiddenFrom({ user, tenant, description }: Owned): Promise<string[]> {
  const session = await told(api.GET("/api/v1/session"));
  const sees = session.scopes.includes("operate") || (session.user === user && session.tenant === tenant);
  return sees ? [] : hiddenNames(description);
}
