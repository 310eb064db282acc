const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** As `JSON.parse`, but refuses a key that an object has twice, as the API does; throws SyntaxError. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const twice = duplicateKey(text);
  if (twice !== null) throw new SyntaxError(`The key ${JSON.stringify(twice)} occurs twice in one object.`);
  return value;
}

/** The first key of well-formed JSON that its object has twice; the standard parser keeps the last one silently. */
function duplicateKey(text: string): string | null {
  // The keys of each object that is open; null for a list.
  const open: (Set<string> | null)[] = [];
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.startsWith('"') && (before === "{" || before === ",")) {
      const keys = open[open.length - 1];
      const key = JSON.parse(token) as string;
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
    before = token;
  }
  return null;
}
