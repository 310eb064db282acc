import { type FormEvent, useState } from "react";
import { useWhose } from "../../api/session";
import { NAME_LENGTH_MAX, removeSettings, SAVED_MAX, savedSettings, saveSettings } from "./remembered";

interface SavedSettingsProps {
  entryId: string;
  /** The form as it is filled. */
  query: string;
  onChoose: (query: string) => void;
}

/** Settings that the user has named; this browser keeps them. */
export function SavedSettings({ entryId, query, onChoose }: SavedSettingsProps) {
  const whose = useWhose();
  const [saved, setSaved] = useState(() => savedSettings(whose, entryId));
  const [name, setName] = useState("");
  const renew = () => setSaved(savedSettings(whose, entryId));
  const save = (event: FormEvent) => {
    event.preventDefault();
    saveSettings(whose, entryId, { name: name.trim(), query });
    setName("");
    renew();
  };
  return (
    <details>
      <summary>Saved settings{saved.length > 0 && ` (${saved.length})`}</summary>
      <ul aria-label="Saved settings">
        {saved.map((one) => (
          <li key={one.name} className="row">
            <button type="button" className="link" onClick={() => onChoose(one.query)}>
              {one.name}
            </button>
            <button
              type="button"
              aria-label={`Remove ${one.name}`}
              onClick={() => {
                removeSettings(whose, entryId, one.name);
                renew();
              }}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <form className="row" onSubmit={save}>
        <label>
          Save these settings as{" "}
          <input
            value={name}
            required
            pattern=".*\S.*"
            maxLength={NAME_LENGTH_MAX}
            onChange={(e) => setName(e.target.value)}
          />
        </label>
        <button type="submit">Save</button>
      </form>
      <p className="faint">This browser keeps them, at most {SAVED_MAX} for an entry.</p>
    </details>
  );
}
