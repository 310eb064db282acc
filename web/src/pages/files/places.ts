/** The two workspaces, and paths in them: names joined by `/`, as the API writes them. */

export const ROOTS = ["workspace", "shared"] as const;
export type Root = (typeof ROOTS)[number];
export const ROOT_LABELS: Record<Root, string> = { workspace: "My workspace", shared: "Shared workspace" };

export function below(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}

/** What leads to a path: each directory with its own path. */
export function crumbs(path: string): { name: string; path: string }[] {
  const names = path === "" ? [] : path.split("/");
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join("/") }));
}

/** A name of this computer as the API writes names. */
export function asName(name: string): string {
  return name.replace(/%/g, "%25").replace(/\p{C}/gu, (one) => encodeURIComponent(one));
}

/** A name as people know it; what does not print stays escaped. */
export function shown(name: string): string {
  return name.replace(/%25/g, "%");
}

export function contentAddress(root: Root, path: string): string {
  return `/api/v1/files/${root}/content?path=${encodeURIComponent(path)}`;
}

export type Look = "table" | "parquet" | "image" | "text";

/** How a file is shown. Pages, drawings and documents that could run something are text. */
export function lookOf(name: string): Look {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (ending === "csv" || ending === "tsv") return "table";
  if (ending === "parquet") return "parquet";
  return ["png", "jpg", "jpeg", "gif", "webp", "avif", "bmp"].includes(ending) ? "image" : "text";
}
