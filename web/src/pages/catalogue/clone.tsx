import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams } from "react-router";
import type { Schemas } from "../../api/client";
import { Loading, NoPage } from "../../components/feedback";
import { arrayOf } from "../arrays/ids";
import { formOf } from "./form-of";
import { madeBy } from "./made";
import { useCatalogue } from "./page";
import { formAddress } from "./remembered";

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
  if (error ?? catalogue.error) return <NoPage title="Clone and edit" error={error ?? catalogue.error} />;
  return <Loading what="Finding its form" />;
}

async function addressOf(id: string, entries: Schemas["CatalogueEntryView"][]): Promise<string> {
  return (await formOf(await madeBy(id), entries)) ?? `/new?from=${id}`;
}
