import { NavLink } from "react-router";

/** Parts of a page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: { to: string; text: string }[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, text }) => (
        <NavLink key={to} to={to} end>
          {text}
        </NavLink>
      ))}
    </nav>
  );
}
