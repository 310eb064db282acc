import { DAYS, type Timing, type When } from "./timing";

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
}

/** When it runs; what repeats becomes a schedule, which has a name. */
export function TimingForm({ timing, onChange, once = true, now = true }: TimingFormProps) {
  const { when } = timing;
  const choices = CHOICES.filter(([value]) => (once || value !== "later") && (now || value !== "now"));
  const repeating = when === "daily" || when === "weekly" || when === "cron";
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
          <input
            type="datetime-local"
            aria-label="Date and time"
            value={timing.later}
            onChange={(e) => onChange({ ...timing, later: e.target.value })}
          />
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
          <input
            type="time"
            aria-label="Time of the day"
            value={timing.time}
            onChange={(e) => onChange({ ...timing, time: e.target.value })}
          />
        )}
        {when === "cron" && (
          <input
            aria-label="Cron expression"
            placeholder="30 2 * * 1-5"
            maxLength={200}
            value={timing.cron}
            onChange={(e) => onChange({ ...timing, cron: e.target.value })}
          />
        )}
        {repeating && (
          <label>
            Name of the schedule{" "}
            <input
              value={timing.schedule}
              placeholder="nightly"
              maxLength={63}
              onChange={(e) => onChange({ ...timing, schedule: e.target.value })}
            />
          </label>
        )}
      </div>
      {when !== "now" && <p className="faint">In your time zone, {zone()}.</p>}
    </div>
  );
}

export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
