import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { NavLink, useLocation } from "react-router";
import { api, told } from "./api/client";
import { useMay } from "./api/session";
import { useMedia } from "./components/media";

interface Place {
  to: string;
  text: string;
}

const NARROW = "(max-width: 800px)";
const FRESH_MS = 60_000;
const WORKFLOWS: Place = { to: "/workflows", text: "Workflows" };
const SCHEDULES: Place = { to: "/schedules", text: "Schedules" };

/** The pages: those that are rarely used behind one button; on a telephone all of them. */
export function Navigation() {
  const { pages, more } = usePlaces();
  const narrow = useMedia(NARROW);
  if (narrow)
    return (
      <nav aria-label="Pages">
        <Menu title="Menu" places={[...pages, ...more]} />
      </nav>
    );
  return (
    <nav aria-label="Pages">
      {pages.map((one) => (
        <NavLink key={one.to} to={one.to}>
          {one.text}
        </NavLink>
      ))}
      <Menu title="More" places={more} />
    </nav>
  );
}

function usePlaces(): { pages: Place[]; more: Place[] } {
  const operates = useMay("operate");
  const administers = useMay("admin");
  const hasWorkflows = useHas("workflows");
  const hasSchedules = useHas("schedules");
  const pages = [
    { to: "/catalogue", text: "Catalogue" },
    { to: "/executions", text: "Executions" },
    ...(hasWorkflows ? [WORKFLOWS] : []),
    ...(hasSchedules ? [SCHEDULES] : []),
    { to: "/files", text: "Files" },
    ...(operates ? [{ to: "/cluster", text: "Cluster" }] : []),
    { to: "/usage", text: "Usage" },
    ...(administers ? [{ to: "/admin", text: "Admin" }] : []),
  ];
  const more = [
    ...(hasWorkflows ? [] : [WORKFLOWS]),
    ...(hasSchedules ? [] : [SCHEDULES]),
    { to: "/statement", text: "Prices" },
    { to: "/account", text: "Account" },
  ];
  return { pages, more };
}

/** Whether the user has any; not while that is not known. */
function useHas(what: "workflows" | "schedules"): boolean {
  const { data } = useQuery({
    queryKey: ["has", what],
    queryFn: async () => {
      if (what === "schedules") return (await told(api.GET("/api/v1/schedules"))).schedules.length > 0;
      const params = { query: { limit: 1 } };
      return (await told(api.GET("/api/v1/workflows", { params }))).workflows.length > 0;
    },
    staleTime: FRESH_MS,
    retry: false,
  });
  return data ?? false;
}

function Menu({ title, places }: { title: string; places: Place[] }) {
  const box = useRef<HTMLDetailsElement>(null);
  const { pathname } = useLocation();
  const current = places.find(({ to }) => pathname.startsWith(to));
  const close = () => {
    if (box.current) box.current.open = false;
  };
  return (
    <details
      ref={box}
      className="menu pages"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <summary>
        {title}
        {current && <span className="faint">{current.text}</span>}
      </summary>
      <div className="menu-body">
        {places.map((one) => (
          <NavLink key={one.to} to={one.to} onClick={close}>
            {one.text}
          </NavLink>
        ))}
      </div>
    </details>
  );
}
