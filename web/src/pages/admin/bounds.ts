/** What stands in the fields of a quota; no bound is an empty one. */

const HOUR_S = 3600;

export const written = (bound: number | null) => (bound === null ? "" : String(bound));

export const read = (text: string) => (text === "" ? null : Number(text));

export const writtenHours = (seconds: number | null) => written(seconds === null ? null : seconds / HOUR_S);

export const readHours = (text: string) => (text === "" ? null : Number(text) * HOUR_S);
