import { useEffect, useState, useSyncExternalStore } from "react";
import { useNavigate } from "react-router";
import { api, told } from "./api/client";
import { useJournal } from "./api/journal";
import { useSession } from "./api/session";
import { endedIn, noticesWanted, onNoticesWanted, SHOWN_MAX } from "./notices";

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
    const found = await Promise.all(ended.slice(0, SHOWN_MAX + 1).map(execution));
    const own = found.filter((one) => one?.user === user);
    if (own.length > SHOWN_MAX) show(`${own.length} or more of your executions ended`, "/executions");
    else
      for (const one of own)
        if (one) show(`${one.name}: ${one.state}`, `/executions/${one.id}`, one.cause ?? "");
  });
  return null;
}

async function execution(id: string) {
  try {
    const path = { execution_id: id };
    return await told(api.GET("/api/v1/executions/{execution_id}", { params: { path } }));
  } catch {
    return null;
  }
}
