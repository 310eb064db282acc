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

/** A path that a person typed for one that was shown; names that stay are as they were. */
export function renamed(path: string, typed: string): string {
  const before = path.split("/");
  const names = typed.split("/").filter((name) => name !== "");
  return names.map((name) => before.find((one) => shown(one) === name) ?? asName(name)).join("/");
}

export function contentAddress(root: Root, path: string): string {
  return `/api/v1/files/${root}/content?path=${encodeURIComponent(path)}`;
}

const ADDRESS_LENGTH_MAX = 12_000;

/** The address of a zip archive of files and directories; null if it would be too long to be sent. */
export function archiveAddress(root: Root, paths: string[]): string | null {
  const query = paths.map((path) => `path=${encodeURIComponent(path)}`).join("&");
  const address = `/api/v1/files/${root}/archive?${query}`;
  return address.length > ADDRESS_LENGTH_MAX || paths.length > 1000 ? null : address;
}

/** The address of the page of a directory. */
export function directoryAddress(root: Root, path: string): string {
  return `/files?in=${encodeURIComponent(root)}&path=${encodeURIComponent(path)}`;
}

/** Where a file is shown: a reload shows it again. */
export function fileAddress(root: Root, path: string, name: string): string {
  return `${directoryAddress(root, path)}&file=${encodeURIComponent(name)}`;
}

export type Look = "table" | "parquet" | "image" | "text";

/** How a file is shown. Pages, drawings and documents that could run something are text. */
export function lookOf(name: string): Look {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (ending === "csv" || ending === "tsv") return "table";
  if (ending === "parquet") return "parquet";
  return ["png", "jpg", "jpeg", "gif", "webp", "avif", "bmp"].includes(ending) ? "image" : "text";
}

const SHARED = "shared:";

/** A file as forms name it: a path in the workspace, or `shared:PATH`; null in an object store. */
export function formName(root: Root, path: string): string | null {
  if (root === "workspace") return path;
  return root === "shared" ? `${SHARED}${path}` : null;
}

/** Where a file is that a form names. */
export function placeOf(name: string): { root: Root; path: string } {
  if (name.startsWith(SHARED)) return { root: "shared", path: name.slice(SHARED.length) };
  return { root: "workspace", path: name };
}

/** The ending of a name, with its dot. */
export function endingOf(name: string): string {
  return name.match(/[^/]\.[^./]+$/)?.[0].slice(1) ?? "";
}
