/** The array that an execution belongs to, by its id: `ARRAY_INDEX`, or `ARRAY_INDEXrRUN` when it ran again. */
export function arrayOf(executionId: string): string | null {
  return executionId.match(/^(a[^_]+)_\d+(?:r\d+)?$/)?.[1] ?? null;
}

export function isArray(id: string): boolean {
  return /^a[^_]+$/.test(id);
}

/** The indices as they are submitted: with how many run at once, if that is limited. */
export function indicesText({
  indices,
  at_once_max,
}: {
  indices: string;
  at_once_max: number | null;
}): string {
  return at_once_max === null ? indices : `${indices}%${at_once_max}`;
}
