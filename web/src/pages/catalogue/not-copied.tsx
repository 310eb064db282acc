/** Says which contents a clone does not have, because only the owner sees them. */
export function NotCopied({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="notice">
      Not copied, as only the owner sees {names.length === 1 ? "its value" : "their values"}:{" "}
      <strong>{names.join(", ")}</strong>. Give {names.length === 1 ? "it" : "them"} values of your own.
    </p>
  );
}
