/** The filled form of the catalogue that makes what was made before. */

import { api, asDescription, type Schemas, told } from "../../api/client";
import { withoutContents, withoutEmpty } from "./hidden";
import { filledDocument } from "./launching";
import type { Made } from "./made";
import { type Origin, originsOf } from "./origin";
import { LEFT_OUT, writeSettings } from "./settings";
import { NO_TIMING, type Timing } from "./timing";

type Change = Partial<Timing> & { deadline?: string };

/** The address of the filled form; null if none makes the same. `change`: what the form holds beside it. */
export async function formOf(
  made: Made,
  entries: Schemas["CatalogueEntryView"][],
  { deadline = "", ...timing }: Change = {},
): Promise<string | null> {
  const description = made.hidden.length > 0 ? withoutEmpty(made.description) : made.description;
  for (const origin of originsOf(description, entries)) {
    if (made.indices) origin.settings.values.indices = made.indices;
    if (!(await makes(origin, made))) continue;
    const { entry, settings } = origin;
    const name = made.name === made.description.name ? "" : made.name;
    const query = writeSettings(entry, { ...settings, name, deadline, timing: { ...NO_TIMING, ...timing } });
    for (const hidden of made.hidden) query.append(LEFT_OUT, hidden);
    return `/catalogue/${encodeURIComponent(entry.id)}?${query}`;
  }
  return null;
}

/** Whether the filled form makes the same description. */
async function makes({ entry, settings }: Origin, { description, hidden }: Made): Promise<boolean> {
  try {
    const filled = await filledDocument(entry, settings);
    if (hidden.length > 0)
      return sorted(withoutContents(await expandedOf(filled))) === sorted(withoutContents(description));
    const whole = sorted(await expandedOf(filled));
    return whole === sorted(description) || whole === sorted(await expandedOf(description));
  } catch {
    // It is refused by now; its description says more than a form.
    return false;
  }
}

/** What the server makes of a description. */
async function expandedOf(document: Record<string, unknown>): Promise<Record<string, unknown>> {
  const body = { application: asDescription(document) };
  return (await told(api.POST("/api/v1/validate", { body }))).expanded;
}

/** As JSON whose keys are in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
