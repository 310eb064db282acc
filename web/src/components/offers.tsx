import { inWhat, standsSentence } from "../promise";

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
  return (
    <ul>
      {offers.map((one) => (
        <li className="field" key={one.number}>
          <strong>
            Offer {one.number}: {inWhat(one)}
          </strong>
          <p>{one.sentence}</p>
          <p>{standsSentence(one)}</p>
          {accept && (
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
