import { useEffect, useState, useSyncExternalStore } from "react";
import { useNavigate } from "react-router";
import { api, told } from "./api/client";
import { useJournal } from "./api/journal";
import { useSession } from "./api/session";
import { endedIn, isArray, noticesWanted, onNoticesWanted, SHOWN_MAX } from "./notices";

/** Shows messages of the browser while the user wants them. */
export function Notifier() {
  const wanted = useSyncExternalStore(onNoticesWanted, noticesWanted);
  return wanted === "on" ? <OneOfAllPages /> : null;
}

/** Of all open pages one follows what happens: the others wait until that one is closed. */
function OneOfAllPages() {
  const [chosen, setChosen] = useState(!("locks" in navigator));
  useEffect(() => {
    if (!("locks" in navigator)) return;
    const stop = new AbortController();
    const until = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    navigator.locks
      .request("zoe-notices", { signal: stop.signal }, () => {
        setChosen(true);
        return until;
      })
      .catch(() => undefined);
    return () => stop.abort();
  }, []);
  return chosen ? <Follower /> : null;
}

function Follower() {
  const { user } = useSession();
  const navigate = useNavigate();
  const show = (title: string, path: string, body = "") => {
    const notice = new Notification(title, { body, tag: path });
    notice.onclick = () => {
      window.focus();
      navigate(path);
    };
  };
  useJournal({ after: "now" }, async (events) => {
    const ended = endedIn(events);
    const found = await Promise.all(ended.slice(0, SHOWN_MAX + 1).map(subject));
    const own = found.filter((one) => one?.user === user);
    if (own.length > SHOWN_MAX) show(`${own.length} or more of your executions ended`, "/executions");
    else for (const one of own) if (one) show(`${one.name}: ${one.state}`, one.path, one.body);
  });
  return null;
}

interface Subject {
  user: string;
  name: string;
  state: string;
  path: string;
  body: string;
}

async function subject(id: string): Promise<Subject | null> {
  try {
    return await (isArray(id) ? array(id) : execution(id));
  } catch {
    return null;
  }
}

async function execution(id: string): Promise<Subject> {
  const path = { execution_id: id };
  const found = await told(api.GET("/api/v1/executions/{execution_id}", { params: { path } }));
  const { user, name, state, cause } = found;
  return { user, name, state, path: `/executions/${id}`, body: cause ?? "" };
}

async function array(id: string): Promise<Subject> {
  const path = { array_id: id };
  const found = await told(api.GET("/api/v1/arrays/{array_id}", { params: { path } }));
  const { user, state, counts } = found;
  const body = Object.entries(counts).map(([of, count]) => `${count} ${of}`);
  return {
    user,
    name: `${found.name}[${found.indices.slice(0, 40)}]`,
    state,
    path: `/arrays/${id}`,
    body: body.join(", "),
  };
}
