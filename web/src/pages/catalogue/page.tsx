import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { WithCommands } from "../../components/hint";
import { type Choice, isChosen, readChoice, tagsOf, toggled, writeChoice } from "./choice";
import { EntryIcon } from "./icons";
import { MyNotebook } from "./my-notebook";

type Entry = Schemas["CatalogueEntryView"];

// What is installed here may change while the page is open.
const FRESH_MS = 60_000;

export function useCatalogue() {
  return useQuery({
    queryKey: ["catalogue"],
    queryFn: () => told(api.GET("/api/v1/catalogue")),
    staleTime: FRESH_MS,
    // A form stays as it is filled while another session reads the catalogue anew.
    placeholderData: (before) => before,
  });
}

export default function CataloguePage() {
  const [query, setQuery] = useSearchParams();
  const choice = readChoice(query);
  const choose = (made: Choice) => setQuery(writeChoice(made), { replace: true });
  const { data, error, isLoading } = useCatalogue();
  const maySubmit = useMay("submit");
  const all = data?.entries ?? [];
  const found = all.filter((entry) => isChosen(entry, choice));
  const categories = Map.groupBy(found, (entry) => entry.category);
  return (
    <>
      <div className="spread">
        <h1>Catalogue</h1>
        <div className="row">
          <label>
            Search{" "}
            <input
              type="search"
              value={choice.search}
              onChange={(e) => choose({ ...choice, search: e.target.value })}
            />
          </label>
          {maySubmit && (
            <Link className="button" to="/new">
              Write your own
            </Link>
          )}
        </div>
      </div>
      {maySubmit && <MyNotebook entries={all} />}
      <TagFilter entries={all} choice={choice} onChoose={choose} />
      <ErrorBox error={error} />
      {isLoading && <Loading what="Reading the catalogue" />}
      {data && found.length === 0 && (
        <Empty>
          Nothing in the catalogue matches.{" "}
          <button type="button" className="link" onClick={() => choose({ search: "", tags: [] })}>
            Show all entries
          </button>
        </Empty>
      )}
      {[...categories].map(([category, entries]) => (
        <section key={category} className="group" aria-label={category}>
          <h2>{category}</h2>
          <ul className="tiles">
            {entries.map((entry) => (
              <li key={entry.id}>
                <Tile entry={entry} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

interface TagFilterProps {
  entries: Entry[];
  choice: Choice;
  onChoose: (choice: Choice) => void;
}

function TagFilter({ entries, choice, onChoose }: TagFilterProps) {
  // A tag that an address names stays in sight, so that it can be taken off.
  const tags = [...new Set([...tagsOf(entries), ...choice.tags])];
  return (
    <fieldset className="tags">
      <legend className="sr">Filter by tag</legend>
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className="tag"
          aria-pressed={choice.tags.includes(tag)}
          onClick={() => onChoose(toggled(choice, tag))}
        >
          {tag}
        </button>
      ))}
    </fieldset>
  );
}

function Tile({ entry }: { entry: Entry }) {
  const text = (
    <>
      <span className="tile-head">
        <EntryIcon name={entry.icon} />
        <strong>{entry.title}</strong>
      </span>
      <span>{entry.summary}</span>
    </>
  );
  if (entry.unavailable) {
    return (
      <div className="tile unavailable">
        {text}
        <span>{entry.unavailable}.</span>
        {entry.remedy && (
          <span>
            To make it run: <WithCommands text={entry.remedy} />.
          </span>
        )}
      </div>
    );
  }
  return (
    <Link className="tile" to={`/catalogue/${entry.id}`}>
      {text}
      {entry.installs && <span className="faint">The first launch installs {entry.installs}.</span>}
    </Link>
  );
}
