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
import { api, PROOF_HEADER, type Schemas, signedIn, told, UNPROVED } from "./client";
import { asRefused, Refused } from "./problem";
import { forgetProof, keepProof, newestProof, takeHandedOver } from "./proof";

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

/** For what shows one tenant's data: as a `key` it begins anew with the session of another. */
export function useWhose(): string {
  return whoseIs(useSession());
}

export function useMay(scope: Schemas["Scope"]): boolean {
  return useSession().scopes.includes(scope);
}

/** The user and the tenant of a session: pages show what is theirs, and act for them only. */
export function whoseIs(session: Session): string {
  return `${session.user} in ${session.tenant}`;
}

/** Before the first page is drawn: it takes the address that was meant for it. */
const handedOver = takeHandedOver();

/** The session of this browser, once this page has proved that it is its own; throws Refused. */
async function present(): Promise<Session> {
  if (handedOver) {
    // Anybody can write an address: only what the server knows takes the place of what is kept.
    const begun = await told(api.GET("/api/v1/session", { headers: { [PROOF_HEADER]: handedOver } }));
    if (begun.csrf_token) return begun;
  }
  const found = await told(api.GET("/api/v1/session"));
  if (found.csrf_token) return found;
  throw new Refused(
    403,
    UNPROVED,
    "Sign in again",
    "This browser was signed in before, but this page cannot prove that it was you.",
  );
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
      // Somebody else, or another tenant: nothing that was shown may stay.
      if (signedIn.whose !== whoseIs(begun)) queries.clear();
      signedIn.whose = whoseIs(begun);
      keepProof(begun.csrf_token);
      signedIn.renew = () =>
        new Promise((resolve) => {
          setEnded(true);
          waiting.current.push(resolve);
        });
      setSession(begun);
      setEnded(false);
      setProblem(null);
      setKnown(true);
      for (const resume of waiting.current.splice(0)) resume();
    },
    [queries],
  );

  const end = useCallback(async () => {
    signedIn.renew = null;
    // Of this browser, also when another tab began its session.
    await told(api.DELETE("/api/v1/session", { headers: { [PROOF_HEADER]: newestProof() } }));
    signedIn.whose = "";
    forgetProof();
    queries.clear();
    setSession(null);
  }, [queries]);

  useEffect(() => {
    present().then(begin, (error) => {
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
