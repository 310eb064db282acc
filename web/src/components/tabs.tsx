import { NavLink } from "react-router";

interface Tab {
  to: string;
  text: string;
  /** Whether its page has parts with addresses below its own. */
  parts?: boolean;
}

/** Parts of a page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, text, parts = false }) => (
        <NavLink key={to} to={to} end={!parts}>
          {text}
        </NavLink>
      ))}
    </nav>
  );
}
