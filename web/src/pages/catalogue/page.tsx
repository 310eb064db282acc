import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { useMay } from "../../api/session";
import { Empty, ErrorBox, Loading } from "../../components/feedback";

type Entry = Schemas["CatalogueEntryView"];

export function useCatalogue() {
  return useQuery({
    queryKey: ["catalogue"],
    queryFn: () => told(api.GET("/api/v1/catalogue")),
    staleTime: Number.POSITIVE_INFINITY,
    // A form stays as it is filled while another session reads the catalogue anew.
    placeholderData: (before) => before,
  });
}

export default function CataloguePage() {
  const [query, setQuery] = useSearchParams();
  const wanted = query.get("search") ?? "";
  const { data, error, isLoading } = useCatalogue();
  const maySubmit = useMay("submit");
  const found = (data?.entries ?? []).filter((entry) => matches(entry, wanted));
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
              value={wanted}
              onChange={(e) => setQuery(e.target.value ? { search: e.target.value } : {}, { replace: true })}
            />
          </label>
          {maySubmit && (
            <Link className="button" to="/new">
              Write your own
            </Link>
          )}
        </div>
      </div>
      <ErrorBox error={error} />
      {isLoading && <Loading what="Reading the catalogue" />}
      {data && found.length === 0 && <Empty>Nothing in the catalogue matches “{wanted}”.</Empty>}
      {[...categories].map(([category, entries]) => (
        <section key={category} aria-label={category}>
          <h2>{category}</h2>
          <div className="tiles">
            {entries.map((entry) => (
              <Tile key={entry.id} entry={entry} />
            ))}
          </div>
          <br />
        </section>
      ))}
    </>
  );
}

function Tile({ entry }: { entry: Entry }) {
  const text = (
    <>
      <strong>{entry.title}</strong>
      <span>{entry.summary}</span>
    </>
  );
  if (entry.unavailable) {
    return (
      <div className="tile unavailable">
        {text}
        <span className="faint">{entry.unavailable}</span>
      </div>
    );
  }
  return (
    <Link className="tile" to={`/catalogue/${entry.id}`}>
      {text}
    </Link>
  );
}

function matches(entry: Entry, wanted: string): boolean {
  const text = `${entry.title} ${entry.summary} ${entry.category} ${entry.id}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
