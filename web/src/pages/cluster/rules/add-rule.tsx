import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef } from "react";
import { api, type Schemas, told } from "../../../api/client";
import { ErrorBox } from "../../../components/feedback";
import { useKept } from "../../../components/kept";
import { useOneAtATime } from "../../../components/one-at-a-time";
import { bytes, duration } from "../../../format";
import { RuleForm } from "./rule-form";
import { whyNoTrial } from "./wanted";

const QUOTES = "quotes-of-rules";
const WHY_NO_TRIAL = "why-no-trial";
type Tried = Schemas["StorageRuleTryView"];

/** A rule by text or by form, and what it would change for an object before it is added. */
export function AddRule() {
  const queries = useQueryClient();
  const rule = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useKept("rule", "");
  const [name, setName] = useKept("rule-tried-for", "");
  const add = useOneAtATime({
    mutationFn: (added: string) =>
      told(api.POST("/api/v1/storage/rules", { body: { text: added, dry_run: false } })),
    onSuccess: () => {
      setText("");
      attempt.reset();
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["storage-rules"] });
      // The button is disabled, and a disabled one has no focus.
      rule.current?.focus();
    },
  });
  const attempt = useMutation({ mutationFn: () => told(api.POST("/api/v1/storage/try", tryOf(name, text))) });
  const noTrial = whyNoTrial(name);
  const change = (changed: string) => {
    setText(changed);
    add.reset();
    attempt.reset();
  };
  return (
    <form
      className="card stacked"
      aria-label="Add a rule"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (text.trim() !== "") add.mutate(text);
      }}
    >
      <h2>Add a rule</h2>
      <details>
        <summary>By form</summary>
        <RuleForm onText={change} />
      </details>
      <label>
        Rule
        <textarea
          ref={rule}
          rows={3}
          value={text}
          aria-describedby={QUOTES}
          placeholder="FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION, SET ENCRYPTION"
          onChange={(e) => change(e.target.value)}
        />
      </label>
      <span className="faint" id={QUOTES}>
        Names and values with spaces stand in quotes, and a quote in them twice: CONTAINER "acme/my ""old""
        files".
      </span>
      <label>
        Try it for (tenant/container/object)
        <input value={name} onChange={(e) => setName(e.target.value)} />
      </label>
      <div className="row">
        <button
          type="button"
          disabled={attempt.isPending || noTrial !== ""}
          aria-describedby={noTrial === "" ? undefined : WHY_NO_TRIAL}
          onClick={() => attempt.mutate()}
        >
          Try
        </button>
        <button type="submit" className="primary" disabled={add.isPending || text.trim() === ""}>
          Add
        </button>
        {noTrial !== "" && (
          <span className="faint" id={WHY_NO_TRIAL}>
            {noTrial}
          </span>
        )}
      </div>
      <ErrorBox error={add.error ?? attempt.error} />
      {add.data && <p role="status">Added: {numbersOf(add.data.rules)}.</p>}
      {attempt.data && <TriedRules tried={attempt.data} />}
    </form>
  );
}

function numbersOf(rules: Schemas["StorageRuleView"][]): string {
  return rules.map((one) => `rule ${one.id}`).join(", ");
}

function tryOf(name: string, text: string) {
  const [tenant = "", container = "", ...object] = name.split("/");
  return { body: { tenant, container, object: object.join("/"), text, tags: [] } };
}

function TriedRules({ tried }: { tried: Tried }) {
  return (
    <div role="status">
      <p>
        Now: {chain(tried.now.filters)}. Then: {chain(tried.then.filters)}.
      </p>
      {tried.last_hour && <p>{hourSentence(tried.last_hour)}</p>}
      <ul>
        {tried.then.verdicts.map((one) => (
          <li key={`${one.rule}/${one.filter}/${one.text}`}>
            {one.filter}: {one.sentence}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How many requests of the last hour the rule would have been for. */
function hourSentence(told: Schemas["StorageHourView"]): string {
  const of = told.seconds >= 3600 ? "hour" : duration(told.seconds);
  const most = told.narrowed ? " at most" : "";
  const puts = `${told.puts} PUTs of ${bytes(told.put_bytes)}`;
  return `In the last ${of}, it would have been for${most} ${puts} and ${told.gets} GETs of ${bytes(told.get_bytes)}.`;
}

function chain(filters: string[]): string {
  return filters.join(", then ") || "no filter";
}
