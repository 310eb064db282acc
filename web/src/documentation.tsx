import type { ReactNode } from "react";

/** Pages of the documentation of this version, which the API serves beside these pages. */
const PAGES = {
  all: "/docs/",
  laptop: "/docs/use/using.html#on-your-laptop",
  waiting: "/docs/use/waiting.html",
  offers: "/docs/use/promises.html#offers",
  roles: "/docs/reference/access.html",
};

/** A link to a page of the documentation, in a window of its own. */
export function Documentation({ page, children }: { page: keyof typeof PAGES; children: ReactNode }) {
  return (
    <a href={PAGES[page]} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
