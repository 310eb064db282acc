import { inWhat, standsSentence } from "../promise";
import { useNow } from "./now";

type Offer = {
  number: number;
  kind: Parameters<typeof inWhat>[0]["kind"];
  moves: boolean;
  ends_s?: number | null;
  sentence: string;
};

/** Offers of other times; `accept` null: they cannot be accepted here, or not any more. */
export function OfferList({
  offers,
  accept,
}: {
  offers: Offer[];
  accept: { mutate: (offer: number) => void; isPending: boolean; isSuccess: boolean } | null;
}) {
  const nowS = useNow();
  return (
    <ul>
      {offers.map((one) => (
        <li className="field" key={one.number}>
          <strong>
            Offer {one.number}: {inWhat(one)}
          </strong>
          <p>{one.sentence}</p>
          <p>{standsSentence(one, nowS)}</p>
          {accept && (one.ends_s == null || one.ends_s > nowS) && (
            <button
              type="button"
              aria-label={`Accept offer ${one.number}`}
              disabled={accept.isPending || accept.isSuccess}
              onClick={() => accept.mutate(one.number)}
            >
              Accept
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
