import { pageHint } from "../hints";

/** A sentence whose commands are in backticks. */
export function WithCommands({ text }: { text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
  return text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

/** What would help, if the page does not say it already. */
export function Hint({ hint }: { hint: string | null | undefined }) {
  const text = pageHint(hint ?? "");
  return text === "" ? null : (
    <p>
      What would help: <WithCommands text={text} />
    </p>
  );
}
