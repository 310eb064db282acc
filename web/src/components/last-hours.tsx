const HOURS = [1, 6, 24];

/** How far back charts go. */
export function LastHours({ hours, onChange }: { hours: number; onChange: (hours: number) => void }) {
  return (
    <label>
      last{" "}
      <select value={hours} onChange={(e) => onChange(Number(e.target.value))}>
        {HOURS.map((one) => (
          <option key={one} value={one}>
            {one} h
          </option>
        ))}
      </select>
    </label>
  );
}
