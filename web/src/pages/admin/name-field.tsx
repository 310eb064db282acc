import { Labelled } from "../../components/field-errors";

/** The name of a new user or tenant, as the API takes it. */
export function NameField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Labelled field="name" label="Name">
      <input
        value={value}
        onChange={(e) => onChange(e.target.value)}
        pattern="[a-z0-9][a-z0-9._\-]*"
        title="a-z, 0-9 and . _ - inside"
        maxLength={64}
        required
      />
    </Labelled>
  );
}
