import { api, told } from "../../api/client";
import { asRefused } from "../../api/problem";
import type { Root } from "./places";

/** Whether there is a file at a path. */
export async function isThere(root: Root, path: string): Promise<boolean> {
  try {
    const query = { path, limit: 1 };
    const { entry } = await told(api.GET("/api/v1/files/{root}", { params: { path: { root }, query } }));
    return entry.kind === "file";
  } catch (error) {
    if (asRefused(error).status === 404) return false;
    throw error;
  }
}
