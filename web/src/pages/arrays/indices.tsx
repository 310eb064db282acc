import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, type Schemas, told } from "../../api/client";
import { ErrorBox } from "../../components/feedback";
import { num, Table } from "../../components/table";

const ROWS = 100;
const LOOK_EVERY_MS = 5000;

interface FoundIndicesProps {
  array: Schemas["ArrayView"];
  state: Schemas["IndexState"];
  version: number;
}

/** The first indices in a state, with their newest executions. */
export function FoundIndices({ array, state, version }: FoundIndicesProps) {
  const title = `${state[0]?.toUpperCase()}${state.slice(1)} indices`;
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    // The counts change with each index that ends, the version with what users change.
    queryKey: ["indices", array.id, state, version, array.counts[state]],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam }) =>
      told(
        api.GET("/api/v1/arrays/{array_id}/indices", {
          params: {
            path: { array_id: array.id },
            query: { state: [state], limit: ROWS, ...(pageParam === null ? {} : { after: pageParam }) },
          },
        }),
      ),
    getNextPageParam: (last) => last.next_after,
    placeholderData: (before) => before,
    refetchInterval: array.ended_at_s === null ? LOOK_EVERY_MS : false,
  });
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      <ErrorBox error={error} />
      <Table headings={[num("Index"), "Execution", "State", num("Exit code"), "Message"]}>
        {data?.pages
          .flatMap((page) => page.indices)
          .map((one) => (
            <tr key={one.index}>
              <td className="num">{one.index}</td>
              <td>
                {one.execution_id ? (
                  <Link to={`/executions/${one.execution_id}`}>{one.execution_id}</Link>
                ) : (
                  ""
                )}
              </td>
              <td>{one.execution_state ?? ""}</td>
              <td className="num">{one.exit_code ?? ""}</td>
              <td>{one.message || (one.cause ?? "")}</td>
            </tr>
          ))}
      </Table>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Further indices
        </button>
      )}
    </section>
  );
}
