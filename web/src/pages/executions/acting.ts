import { api, told } from "../../api/client";
import { asRefused, Refused } from "../../api/problem";
import { isArray } from "../arrays/ids";

export type Action = "cancel" | "hold" | "release";

const AT_ONCE = 4;
const DONE: Record<Action, string> = { cancel: "cancelled", hold: "held", release: "released" };

/** Does it to each execution and array, a few at a time; null, or what to tell when some could not be. */
export async function actOnAll(
  action: Action,
  ids: string[],
  done: (id: string) => void,
): Promise<Refused | null> {
  const waiting = [...ids];
  const refused: Refused[] = [];
  const work = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      try {
        await act(action, id);
        done(id);
      } catch (error) {
        refused.push(asRefused(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const first = refused[0];
  if (first === undefined) return null;
  return new Refused(
    first.status,
    first.code,
    `${refused.length} of ${ids.length} were not ${DONE[action]}: ${first.message}`,
  );
}

function act(action: Action, id: string): Promise<unknown> {
  if (isArray(id))
    return told(api.POST(`/api/v1/arrays/{array_id}/${action}`, { params: { path: { array_id: id } } }));
  return told(
    api.POST(`/api/v1/executions/{execution_id}/${action}`, { params: { path: { execution_id: id } } }),
  );
}
