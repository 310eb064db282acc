import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams } from "react-router";
import { api, asDescription, type Schemas, told } from "../../api/client";
import { ErrorBox, Loading } from "../../components/feedback";
import { arrayOf } from "../arrays/ids";
import { filledDocument } from "./launching";
import { type Made, madeBy } from "./made";
import { type Origin, originsOf } from "./origin";
import { useCatalogue } from "./page";
import { formAddress } from "./remembered";
import { writeSettings } from "./settings";

/** Leads to the form that made an execution or its array, with its values; else to its description. */
export default function ClonePage() {
  const { executionId: given = "" } = useParams();
  const executionId = arrayOf(given) ?? given;
  const kept = formAddress(executionId);
  const catalogue = useCatalogue();
  const { data, error } = useQuery({
    queryKey: ["form of", executionId],
    queryFn: () => addressOf(executionId, catalogue.data?.entries ?? []),
    enabled: kept === null && catalogue.data !== undefined,
    retry: false,
  });
  const address = kept ?? data;
  if (address) return <Navigate to={address} replace />;
  if (error ?? catalogue.error) return <ErrorBox error={error ?? catalogue.error} />;
  return <Loading what="Finding its form" />;
}

async function addressOf(id: string, entries: Schemas["CatalogueEntryView"][]): Promise<string> {
  const made = await madeBy(id);
  for (const origin of originsOf(made.description, entries)) {
    if (made.indices) origin.settings.values.indices = made.indices;
    if (await makes(origin, made)) return addressIn(origin, made);
  }
  return `/new?from=${id}`;
}

function addressIn({ entry, settings }: Origin, made: Made): string {
  const name = made.name === made.description.name ? "" : made.name;
  return `/catalogue/${encodeURIComponent(entry.id)}?${writeSettings(entry, { ...settings, name })}`;
}

/** Whether the filled form makes the same description. */
async function makes({ entry, settings }: Origin, { description }: Made): Promise<boolean> {
  try {
    const application = asDescription(await filledDocument(entry, settings));
    const { expanded } = await told(api.POST("/api/v1/validate", { body: { application } }));
    return sorted(expanded) === sorted(description);
  } catch {
    // It is refused by now; its description says more than a form.
    return false;
  }
}

/** JSON whose keys are in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
