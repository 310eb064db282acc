import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams } from "react-router";
import { api, asDescription, type Schemas, told } from "../../api/client";
import { ErrorBox, Loading } from "../../components/feedback";
import { filledDocument } from "./launching";
import { type Origin, originsOf } from "./origin";
import { useCatalogue } from "./page";
import { formAddress } from "./remembered";
import { writeSettings } from "./settings";

type Execution = Schemas["ExecutionView"];

/** Leads to the form that made an execution, with its values; else to its description. */
export default function ClonePage() {
  const { executionId = "" } = useParams();
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

async function addressOf(executionId: string, entries: Schemas["CatalogueEntryView"][]): Promise<string> {
  const params = { path: { execution_id: executionId } };
  const execution = await told(api.GET("/api/v1/executions/{execution_id}", { params }));
  for (const origin of originsOf(execution.description, entries))
    if (await makes(origin, execution)) return addressIn(origin, execution);
  return `/new?from=${executionId}`;
}

function addressIn({ entry, settings }: Origin, execution: Execution): string {
  const name = execution.name === execution.description.name ? "" : execution.name;
  return `/catalogue/${encodeURIComponent(entry.id)}?${writeSettings(entry, { ...settings, name })}`;
}

/** Whether the filled form makes the same description. */
async function makes({ entry, settings }: Origin, { description }: Execution): Promise<boolean> {
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
