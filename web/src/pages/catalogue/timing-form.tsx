import { Control, FieldMessages } from "../../components/field-errors";
import { DAYS, repeats, type Timing, type When } from "./timing";

const CHOICES: [When, string][] = [
  ["now", "Now"],
  ["later", "Once, later"],
  ["daily", "Every day"],
  ["weekly", "Every week"],
  ["cron", "At times of cron"],
];

interface TimingFormProps {
  timing: Timing;
  onChange: (timing: Timing) => void;
  /** Whether it may run once, at a later time. */
  once?: boolean;
  /** Whether it may run now. */
  now?: boolean;
  /** Of a schedule that exists: its zone. Its name stays. */
  of?: string;
}

/** When it runs; what repeats becomes a schedule, which has a name. */
export function TimingForm({ timing, onChange, once = true, now = true, of }: TimingFormProps) {
  const { when } = timing;
  if (when === "schedule") return <p>It runs at the times of the schedule {timing.schedule}.</p>;
  const choices = CHOICES.filter(([value]) => (once || value !== "later") && (now || value !== "now"));
  return (
    <div className="field">
      <label htmlFor="when">When</label>
      <div className="row">
        <select
          id="when"
          value={when}
          onChange={(e) => onChange({ ...timing, when: e.target.value as When })}
        >
          {choices.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {when === "later" && (
          <Control field="later">
            <input
              type="datetime-local"
              aria-label="Date and time"
              value={timing.later}
              onChange={(e) => onChange({ ...timing, later: e.target.value })}
            />
          </Control>
        )}
        {when === "weekly" && (
          <select
            aria-label="Day of the week"
            value={timing.day}
            onChange={(e) => onChange({ ...timing, day: e.target.value })}
          >
            {DAYS.map((name, day) => (
              <option key={name} value={String(day)}>
                {name}
              </option>
            ))}
          </select>
        )}
        {(when === "daily" || when === "weekly") && (
          <Control field="time">
            <input
              type="time"
              aria-label="Time of the day"
              value={timing.time}
              onChange={(e) => onChange({ ...timing, time: e.target.value })}
            />
          </Control>
        )}
        {when === "cron" && (
          <Control field="expression">
            <input
              aria-label="Cron expression"
              placeholder="30 2 * * 1-5"
              maxLength={200}
              value={timing.cron}
              onChange={(e) => onChange({ ...timing, cron: e.target.value })}
            />
          </Control>
        )}
        {repeats(timing) && of === undefined && (
          <label>
            Name of the schedule{" "}
            <Control field="schedule">
              <input
                value={timing.schedule}
                placeholder="nightly"
                maxLength={63}
                onChange={(e) => onChange({ ...timing, schedule: e.target.value })}
              />
            </Control>
          </label>
        )}
      </div>
      {["later", "time", "expression", "schedule"].map((field) => (
        <FieldMessages key={field} field={field} />
      ))}
      {when !== "now" && <p className="faint">In the time zone {of ?? zone()}.</p>}
    </div>
  );
}

export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
