import type { ReactNode } from "react";
import type { Schemas } from "../../api/client";

type Name = NonNullable<Schemas["CatalogueEntryView"]["icon"]>;

const SHAPES: Record<Name, ReactNode> = {
  chart: <path d="M4 4v16h16M8 16v-4M12 16V8M16 16v-6" />,
  code: <path d="m8 7-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14" />,
  globe: (
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M3 12h18M12 3c3.5 3 3.5 15 0 18M12 3c-3.5 3-3.5 15 0 18" />
    </>
  ),
  layers: <path d="m12 3 9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5" />,
  nodes: (
    <>
      <circle cx="12" cy="5" r="2.5" />
      <circle cx="5" cy="18" r="2.5" />
      <circle cx="19" cy="18" r="2.5" />
      <path d="m10.8 7.2-4.5 8.6M13.2 7.2l4.5 8.6M7.5 18h9" />
    </>
  ),
  notebook: <path d="M6 3h13v18H6zM9.5 3v18M3.5 7.5H7M3.5 12H7M3.5 16.5H7M13 8h3M13 12h3" />,
  spark: <path d="m13 2-8 12h6l-1 8 8-12h-6z" />,
  statistics: <path d="M3 20h18M4 17c4 0 4.5-11 8-11s4 11 8 11" />,
  table: <path d="M4 4h16v16H4zM4 9.5h16M4 15h16M10 4v16" />,
  terminal: <path d="M3 4h18v16H3zM7 9l3.5 3L7 15M12.5 15.5H17" />,
};

const BOX = <path d="m12 3 8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9" />;

/** The picture of an entry; its title says the same in words. */
export function EntryIcon({ name }: { name: Name | null | undefined }) {
  return (
    <svg
      className="entry-icon"
      viewBox="0 0 24 24"
      width="28"
      height="28"
      aria-hidden="true"
      focusable="false"
    >
      {name ? SHAPES[name] : BOX}
    </svg>
  );
}
