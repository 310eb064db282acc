import { useEffect, useState } from "react";
import { api, PROOF_HEADER, told } from "../api/client";
import { newestProof } from "../api/proof";
import { type Session, useSession, useSessionState, whoseIs } from "../api/session";
import { Dialog } from "../components/dialog";
import { ErrorBox } from "../components/feedback";
import { SignInForm } from "./sign-in";

const LOOK_MS = 2_000;

/** The session ended in mid-work, or another tab began another one: the page stays as it is behind this. */
export function SignInAgain() {
  const ended = useSession();
  const { begin } = useSessionState();
  const [elsewhere, setElsewhere] = useState<Session | null>(null);
  const [looked, setLooked] = useState(false);
  useEffect(() => {
    let current = true;
    const look = () =>
      begunElsewhere()
        .then(
          (begun) => {
            if (!current) return;
            if (whoseIs(begun) === whoseIs(ended)) begin(begun);
            else setElsewhere(begun);
          },
          () => current && setElsewhere(null),
        )
        .finally(() => current && setLooked(true));
    void look();
    const timer = window.setInterval(() => void look(), LOOK_MS);
    return () => {
      current = false;
      window.clearInterval(timer);
    };
  }, [ended, begin]);
  if (!looked) return null;
  if (elsewhere) return <SessionChanged key={whoseIs(elsewhere)} shown={ended} now={elsewhere} />;
  return (
    <Dialog key="ended" title="Sign in again">
      <p>Your session has ended. Nothing you typed is lost, and your request continues after you sign in.</p>
      <SignInForm user={ended.user} tenant={ended.tenant} />
    </Dialog>
  );
}

/** The browser has one session: the page goes on in it, or in one of the tenant that it shows. */
function SessionChanged({ shown, now }: { shown: Session; now: Session }) {
  const { begin } = useSessionState();
  const [problem, setProblem] = useState<unknown>(null);
  const back = now.user === shown.user && now.tenants.includes(shown.tenant);
  const goBack = () => {
    const headers = { [PROOF_HEADER]: now.csrf_token };
    told(api.PUT("/api/v1/session/tenant", { body: { tenant: shown.tenant }, headers, fetch })).then(
      begin,
      setProblem,
    );
  };
  return (
    <Dialog title="The session changed in another tab">
      <p>
        This page shows {whoseIs(shown)}; another tab of this browser is now {whoseIs(now)}. Nothing was sent,
        and what you typed stays.
      </p>
      <ErrorBox error={problem} />
      <div className="row">
        <button type="button" className="primary" onClick={() => begin(now)}>
          Go on as {whoseIs(now)}
        </button>
        {back && (
          <button type="button" onClick={goBack}>
            Go back to {shown.tenant} in all tabs
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** The session that was begun last in this browser; throws while this origin cannot prove one. */
async function begunElsewhere(): Promise<Session> {
  const headers = { [PROOF_HEADER]: newestProof() };
  const begun = await told(api.GET("/api/v1/session", { headers, fetch }));
  if (!begun.csrf_token) throw new Error("no user is signed in");
  return begun;
}
