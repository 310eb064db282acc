import { api, told } from "../../api/client";
import { asRefused, Refused } from "../../api/problem";

const AT_ONCE = 4;

/** Cancels each, a few at a time; null, or what to tell when some could not be. */
export async function cancelAll(ids: string[], cancelled: (id: string) => void): Promise<Refused | null> {
  const waiting = [...ids];
  const refused: Refused[] = [];
  const work = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      try {
        await told(
          api.POST("/api/v1/executions/{execution_id}/cancel", { params: { path: { execution_id: id } } }),
        );
        cancelled(id);
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
    `${refused.length} of ${ids.length} were not cancelled: ${first.message}`,
  );
}
