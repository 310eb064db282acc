/** Which entries of the catalogue are shown: words and tags that the page's address names. */

export interface Choosable {
  id: string;
  title: string;
  summary: string;
  category: string;
  tags?: string[];
}

export interface Choice {
  search: string;
  tags: string[];
}

export function readChoice(query: URLSearchParams): Choice {
  return { search: query.get("search") ?? "", tags: [...new Set(query.getAll("tag"))] };
}

export function writeChoice({ search, tags }: Choice): URLSearchParams {
  return new URLSearchParams([...(search ? [["search", search]] : []), ...tags.map((tag) => ["tag", tag])]);
}

export function toggled({ search, tags }: Choice, tag: string): Choice {
  return { search, tags: tags.includes(tag) ? tags.filter((one) => one !== tag) : [...tags, tag] };
}

/** An entry is shown if it has all words and all tags. */
export function isChosen(entry: Choosable, { search, tags }: Choice): boolean {
  const has = entry.tags ?? [];
  const text = [entry.title, entry.summary, entry.category, entry.id, ...has].join(" ").toLowerCase();
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word)) && tags.every((tag) => has.includes(tag));
}

/** All tags, those of most entries first. */
export function tagsOf(entries: Choosable[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of entries.flatMap((entry) => entry.tags ?? [])) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([tag]) => tag);
}
