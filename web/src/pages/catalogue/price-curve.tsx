import { useState } from "react";
import { num, Table } from "../../components/table";
import { counted, duration, number } from "../../format";
import { type Choice, type Choices, cheapestWithin, fromNow } from "./choices";

const WIDTH = 320;
const HEIGHT = 90;
const EDGE = 8;
const STEPS = 40;

interface PriceCurveProps {
  given: Choices;
  /** Sets the deadline of the form, if there is one. */
  onDeadline?: ((deadline: string) => void) | undefined;
}

/** What an earlier end costs, with a slider for the time; the table is for whoever does not see the curve. */
export function PriceCurve({ given: { unit, choices }, onDeadline }: PriceCurveProps) {
  const slowest = choices[0];
  const fastest = choices[choices.length - 1];
  const [withinS, setWithinS] = useState<number | null>(null);
  if (slowest === undefined || fastest === undefined) return null;
  const chosen = cheapestWithin(choices, withinS ?? slowest.runS);
  return (
    <section className="card" aria-label="Price of an earlier end">
      <h2>What an earlier end costs, in {unit}</h2>
      <p className="faint">Nine of ten runs end in such a time from their start.</p>
      <Curve choices={choices} chosen={chosen} />
      {onDeadline && (
        <div className="stacked">
          <label>
            When, from the start
            <input
              type="range"
              min={fastest.runS}
              max={slowest.runS}
              step={(slowest.runS - fastest.runS) / STEPS}
              value={withinS ?? slowest.runS}
              aria-valuetext={
                chosen && `in ${duration(withinS ?? slowest.runS)}, ${choiceText(chosen, unit)}`
              }
              onChange={(e) => {
                setWithinS(e.target.valueAsNumber);
                onDeadline(fromNow(e.target.valueAsNumber));
              }}
            />
          </label>
        </div>
      )}
      {withinS !== null && chosen && (
        <p>
          In {duration(withinS)}: {choiceText(chosen, unit)}. This is the deadline now, without time to wait
          for room.
        </p>
      )}
      <Table headings={[num("Elastic services"), num("Ends in"), num("Price")]}>
        {choices.map((one) => (
          <tr key={one.elastic}>
            <td className="num">{one.elastic}</td>
            <td className="num">{duration(one.runS)}</td>
            <td className="num">{number(one.price)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Curve({ choices, chosen }: { choices: Choice[]; chosen: Choice | undefined }) {
  const longest = Math.max(...choices.map((one) => one.runS));
  const dearest = Math.max(...choices.map((one) => one.price), 1e-9);
  const x = (one: Choice) => EDGE + (one.runS / longest) * (WIDTH - 2 * EDGE);
  const y = (one: Choice) => HEIGHT - EDGE - (one.price / dearest) * (HEIGHT - 2 * EDGE);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" aria-hidden="true" fill="none" stroke="currentColor">
      <path d={`M${EDGE} ${EDGE}V${HEIGHT - EDGE}H${WIDTH - EDGE}`} opacity="0.4" />
      <polyline points={choices.map((one) => `${x(one)},${y(one)}`).join(" ")} strokeWidth="2" />
      {choices.map((one) => (
        <circle
          key={one.elastic}
          cx={x(one)}
          cy={y(one)}
          r="4"
          fill={one === chosen ? "currentColor" : "none"}
        />
      ))}
    </svg>
  );
}

function choiceText({ elastic, price }: Choice, unit: string): string {
  return `with ${counted(elastic, "elastic service")}, about ${number(price)} ${unit}`;
}
