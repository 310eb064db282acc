import { ensureSyntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";

type Tree = NonNullable<ReturnType<typeof ensureSyntaxTree>>;
type Node = Tree["topNode"];

const PARSE_MS = 500;

/** Where a JSON pointer (RFC 6901) leads in the text; as far as it leads, at worst to the first character. */
export function rangeOf(state: EditorState, pointer: string): { from: number; to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS);
  let node: Node | null = tree?.topNode.firstChild ?? null;
  if (node === null) return { from: 0, to: Math.min(1, state.doc.length) };
  const parts = pointer.split("/").slice(1);
  for (const part of parts) {
    const next: Node | null = inside(state, node, part.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (next === null) break;
    node = next;
  }
  // A finding of the whole document marks its first character only.
  return parts.length === 0 ? { from: node.from, to: node.from + 1 } : { from: node.from, to: node.to };
}

function inside(state: EditorState, node: Node, part: string): Node | null {
  if (node.name === "Array") {
    const values = children(node).filter((child) => !["[", "]", ",", "⚠"].includes(child.name));
    return values[Number(part)] ?? null;
  }
  for (const property of children(node).filter((child) => child.name === "Property")) {
    const name = property.firstChild;
    if (name && nameOf(state, name) === part) return property.lastChild;
  }
  return null;
}

function nameOf(state: EditorState, node: Node): string | null {
  try {
    return String(JSON.parse(state.sliceDoc(node.from, node.to)));
  } catch {
    return null;
  }
}

function children(node: Node): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) found.push(child);
  return found;
}
