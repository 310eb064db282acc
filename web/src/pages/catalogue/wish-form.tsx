import { Control, FieldMessages } from "../../components/field-errors";
import type { Wish } from "./wish";

interface WishFormProps {
  wish: Wish;
  onChange: (wish: Wish) => void;
}

/** Whether the deadline is to be promised, how surely, and for how much. */
export function WishForm({ wish, onChange }: WishFormProps) {
  return (
    <div className="field">
      <div className="stacked">
        <label>
          <Control field="promise">
            <input
              type="checkbox"
              checked={wish.wanted}
              onChange={(e) => onChange({ ...wish, wanted: e.target.checked })}
            />
          </Control>{" "}
          Promise it
        </label>
        <FieldMessages field="promise" />
        {wish.wanted && (
          <>
            <label>
              Confidence, percent
              <input
                type="number"
                min={50}
                max={99}
                step="any"
                value={wish.confidence}
                onChange={(e) => onChange({ ...wish, confidence: e.target.value })}
              />
            </label>
            <label>
              Budget, in the currency of the price list, else core-hours (empty: any)
              <input
                type="number"
                min={0}
                step="any"
                value={wish.budget}
                onChange={(e) => onChange({ ...wish, budget: e.target.value })}
              />
            </label>
          </>
        )}
      </div>
    </div>
  );
}
