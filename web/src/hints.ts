/** Hints of the API as a page says them: it names its own buttons instead of commands of the shell. */

/** Commands, each with what the page has instead; empty: the page shows it already. */
const OWN: [RegExp, string][] = [
  [/`zoe release[^`]*` lets it into the queue/, "Release lets it into the queue"],
  [/`zoe eta[^`]*` shows when it is expected to start/, ""],
  [/`zoe explain[^`]*` shows what each node lacks/, "operators see below what each node lacks"],
  [
    /`zoe explain[^`]*` shows the longest time limit with which it would start/,
    "a shorter time limit lets it start earlier",
  ],
  [/`zoe show[^`]*` shows how the last attempt ended/, "Steps shows how the last attempt ended"],
  [/`zoe show[^`]*` lists them with their causes/, "Services lists them with their causes"],
  [/`zoe show[^`]*` shows the offers, and `zoe accept[^`]*` accepts one/, "Accept takes one of its offers"],
  [/submit it again: `zoe show[^`]*` prints its description/, "Clone and edit submits it again"],
  [/see `zoe nodes`( and `zoe status`)?(; )?/, ""],
  [/`zoe quota` shows how many there are/, "Usage shows how many there are"],
  [/`zoe shares[^`]*` lists with whom it is shared/, "Share lists with whom it is shared"],
  [/`zoe array modify[^`]*` changes this limit/, "Clone and edit makes an array with another limit"],
  [/upload the files \(`zoe cp`\)/, "upload the files at Files"],
  [/; `zoe admin user password` can generate a password/, ""],
  [
    /submit it, then `zoe eta[^`]*` shows when it is expected to start; or /,
    "launch it, then its page shows when it is expected to start; or ",
  ],
  [/use `zoe convert FILE` to convert/, "Edit as JSON takes version 4 only; `zoe convert FILE` converts"],
];

/** The hint in the page's own words; other commands stay, in backticks. */
export function pageHint(hint: string): string {
  const found = OWN.reduce((text, [command, own]) => text.replace(command, own), hint);
  return found.replace(/^[;,]\s*|[;,]\s*$/g, "").trim();
}
