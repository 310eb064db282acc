interface MeterProps {
  label: string;
  used: number;
  limit: number | null;
  format: (value: number) => string;
}

/** A quota: used of limit; without a limit only what is used. */
export function Meter({ label, used, limit, format }: MeterProps) {
  const text = limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`;
  return (
    <div className="meter">
      <span>{label}</span>
      {limit !== null && (
        <meter min={0} max={Math.max(limit, 1e-9)} high={limit * 0.9} value={used} aria-label={label} />
      )}
      <span className="num">{text}</span>
    </div>
  );
}
