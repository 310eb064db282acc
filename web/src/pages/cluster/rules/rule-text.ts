/** What the form of a rule asks for; docs/store/rules.md has the whole language. */
export interface RuleFields {
  kind: "TENANT" | "CONTAINER" | "OBJECT" | "G";
  target: string;
  condition: "" | "OBJECT_TYPE" | "OBJECT_TAG" | "OBJECT_SIZE<" | "OBJECT_SIZE>" | "GETS_SEC>" | "PUTS_SEC>";
  value: string;
  filters: string[];
  mandatory: boolean;
}

export const KINDS: Record<RuleFields["kind"], string> = {
  TENANT: "a tenant",
  CONTAINER: "a container",
  OBJECT: "an object",
  G: "a group",
};

export const CONDITIONS: Record<RuleFields["condition"], string> = {
  "": "always",
  OBJECT_TYPE: "if its type is",
  OBJECT_TAG: "if it has the tag",
  "OBJECT_SIZE<": "if it is smaller than",
  "OBJECT_SIZE>": "if it is larger than",
  "GETS_SEC>": "if GETs per second are above",
  "PUTS_SEC>": "if PUTs per second are above",
};

export const FILTERS: Record<string, string> = {
  "COMPRESSION WITH TYPE=ZSTD": "compressed by zstd",
  "COMPRESSION WITH TYPE=LZ4": "compressed by LZ4",
  "COMPRESSION WITH TYPE=GZIP": "compressed by gzip",
  ENCRYPTION: "encrypted",
  CACHING: "kept in the caches of proxies, too, once they are read",
};

export const NO_RULE: RuleFields = {
  kind: "TENANT",
  target: "",
  condition: "",
  value: "",
  filters: [],
  mandatory: false,
};

/** The rule that the fields say; empty while something is missing. */
export function ruleText(fields: RuleFields): string {
  const { kind, target, condition, value, filters, mandatory } = fields;
  if (target.trim() === "" || filters.length === 0 || (condition !== "" && value.trim() === "")) return "";
  const joined = /[<>]$/.test(condition) ? condition : `${condition}=`;
  const when = condition === "" ? "" : ` WHEN ${joined}${quoted(value.trim())}`;
  const actions = filters.map((name) => `SET ${name}`).join(", ");
  return `FOR ${kind} ${quoted(target.trim())}${when} DO ${actions}${mandatory ? " MANDATORY" : ""}`;
}

function quoted(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
