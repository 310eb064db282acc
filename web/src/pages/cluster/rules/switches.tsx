import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { ErrorBox, Loading } from "../../../components/feedback";
import { moment, number } from "../../../format";
import { CONTROLLERS } from "./queries";

const ASK_AGAIN_MS = 5_000;

/** When a rule was switched last and by which values, asked for once it is opened. */
export function Switches({ name }: { name: string }) {
  const [open, setOpen] = useState(false);
  const shown = useQuery({
    queryKey: [...CONTROLLERS, name],
    queryFn: () => told(api.GET("/api/v1/storage/controllers/{name}", { params: { path: { name } } })),
    enabled: open,
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`Last switches of ${name}`}>Last switches</summary>
      {shown.isLoading && <Loading what="Loading the switches" />}
      <ErrorBox error={shown.error} />
      {shown.data?.switches.length === 0 && <p className="faint">It was not switched yet.</p>}
      {shown.data && shown.data.switches.length > 0 && (
        <ol>
          {shown.data.switches.map((one) => (
            <li key={`${one.at_s}/${one.active}`}>{sentenceOf(one)}</li>
          ))}
        </ol>
      )}
    </details>
  );
}

function sentenceOf(one: Schemas["StorageSwitchView"]): string {
  const values = Object.entries(one.metrics).map(([name, value]) => `${name} ${number(value)}`);
  const by = values.length > 0 ? values.join(", ") : "its metric was not known";
  return `${moment(one.at_s)}: ${one.dry ? "would be " : ""}${one.active ? "on" : "off"} (${by})`;
}
