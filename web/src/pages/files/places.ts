/** Workspaces and services of the object store, and paths in them: names joined by `/`, as the API writes them. */

export type Root = "workspace" | "shared" | `store:${string}`;
const WORKSPACES: Root[] = ["workspace", "shared"];

/** The roots of a tenant that has credentials for these services of the object store. */
export function rootsOf(services: string[]): Root[] {
  return [...WORKSPACES, ...services.map((service): Root => `store:${service}`)];
}

export function labelOf(root: Root): string {
  if (root === "workspace") return "My workspace";
  return root === "shared" ? "Shared workspace" : `Object store ${root.slice("store:".length)}`;
}

export function rootIn(text: string | null): Root {
  return text === "shared" || text?.startsWith("store:") ? (text as Root) : "workspace";
}

/** Whether files can be here: in an object store, they are in containers. */
export function takesFiles(root: Root, path: string): boolean {
  return path !== "" || !root.startsWith("store:");
}

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
