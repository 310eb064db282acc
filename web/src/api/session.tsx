import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { api, type Schemas, signedIn, told } from "./client";
import { asRefused, type Refused } from "./problem";

export type Session = Schemas["SessionView"];

interface SessionState {
  session: Session | null;
  /** Whether it is known yet if there is one. */
  known: boolean;
  /** The session ended in mid-work: requests wait until its user signs in again. */
  ended: boolean;
  problem: Refused | null;
  begin: (session: Session) => void;
  end: () => Promise<void>;
}

const Context = createContext<SessionState | null>(null);

export function useSessionState(): SessionState {
  const state = useContext(Context);
  if (state === null) throw new Error("useSessionState outside SessionProvider");
  return state;
}

/** Who is signed in; only for what is shown to signed-in users. */
export function useSession(): Session {
  const { session } = useSessionState();
  if (session === null) throw new Error("nobody is signed in");
  return session;
}

export function useMay(scope: Schemas["Scope"]): boolean {
  return useSession().scopes.includes(scope);
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [session, setSession] = useState<Session | null>(null);
  const [known, setKnown] = useState(false);
  const [ended, setEnded] = useState(false);
  const [problem, setProblem] = useState<Refused | null>(null);
  const waiting = useRef<(() => void)[]>([]);
  const queries = useQueryClient();

  const begin = useCallback(
    (begun: Session) => {
      setSession((before) => {
        // Somebody else, or another tenant: nothing that was shown may stay.
        if (before && (before.user !== begun.user || before.tenant !== begun.tenant)) queries.clear();
        return begun;
      });
      signedIn.csrfToken = begun.csrf_token;
      signedIn.renew = () =>
        new Promise((resolve) => {
          setEnded(true);
          waiting.current.push(resolve);
        });
      setEnded(false);
      setKnown(true);
      for (const resume of waiting.current.splice(0)) resume();
    },
    [queries],
  );

  const end = useCallback(async () => {
    signedIn.renew = null;
    await told(api.DELETE("/api/v1/session"));
    signedIn.csrfToken = "";
    queries.clear();
    setSession(null);
  }, [queries]);

  useEffect(() => {
    told(api.GET("/api/v1/session")).then(begin, (error) => {
      const refused = asRefused(error);
      if (refused.status !== 401) setProblem(refused);
      setKnown(true);
    });
  }, [begin]);

  const state = useMemo(
    () => ({ session, known, ended, problem, begin, end }),
    [session, known, ended, problem, begin, end],
  );
  return <Context.Provider value={state}>{children}</Context.Provider>;
}
