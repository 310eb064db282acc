import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { fetchSignedIn } from "../../api/client";
import { asRefused, Refused, refusedBy } from "../../api/problem";
import { Empty, ErrorBox, Loading } from "../../components/feedback";
import { Table } from "../../components/table";
import { contentAddress, lookOf, type Root } from "./places";

const TEXT_BYTES = 256 << 10;
const IMAGE_BYTES_MAX = 20 << 20;
const CHUNK_BYTES_MAX = 16 << 20;
const ROWS_MAX = 100;
const COLUMNS_MAX = 50;
const CELL_LENGTH_MAX = 200;

interface Props {
  root: Root;
  path: string;
  size: number;
}

interface Rows {
  columns: string[];
  rows: string[][];
  note: string;
}

/** The beginning of a file. Nothing in it is run: tables and texts are shown as text, and pictures from their bytes. */
export function Preview(props: Props) {
  switch (lookOf(props.path)) {
    case "table":
      return <RowsOf {...props} read={csvRows} />;
    case "parquet":
      return <RowsOf {...props} read={parquetRows} />;
    case "image":
      return <Picture {...props} />;
    default:
      return <Text {...props} />;
  }
}

/** The bytes from `first` up to, not including, `end`. */
async function part(root: Root, path: string, first: number, end: number): Promise<ArrayBuffer> {
  if (end <= first) return new ArrayBuffer(0);
  const address = new URL(contentAddress(root, path), window.location.href);
  const request = new Request(address, { headers: { Range: `bytes=${first}-${end - 1}` } });
  const answer = await fetchSignedIn(request).catch((error) => {
    throw asRefused(error);
  });
  if (!answer.ok) throw refusedBy(answer.status, await answer.json());
  return answer.arrayBuffer();
}

function useRead<T>(what: string, { root, path, size }: Props, read: () => Promise<T>) {
  const queryFn = () =>
    read().catch((error) => {
      if (error instanceof Refused) throw error;
      throw new Refused(
        422,
        "",
        "This file cannot be shown",
        "Its content is not what its name says: download it.",
      );
    });
  return useQuery({ queryKey: ["preview", what, root, path, size], queryFn, retry: false, gcTime: 0 });
}

function Text(props: Props) {
  const { data, error } = useRead("text", props, () =>
    part(props.root, props.path, 0, Math.min(props.size, TEXT_BYTES)),
  );
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Reading" />;
  const bytes = new Uint8Array(data);
  if (bytes.includes(0)) return <Empty>This file is not text: download it to open it.</Empty>;
  return (
    <>
      <pre className="preview">{new TextDecoder().decode(bytes)}</pre>
      {props.size > TEXT_BYTES && <p className="faint">The first 256 KiB.</p>}
    </>
  );
}

function Picture(props: Props) {
  const [address, setAddress] = useState<string | null>(null);
  const { data, error } = useRead("image", props, () => part(props.root, props.path, 0, props.size));
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(new Blob([data]));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (props.size > IMAGE_BYTES_MAX) return <Empty>This picture is too large to be shown: download it.</Empty>;
  if (error) return <ErrorBox error={error} />;
  if (address === null) return <Loading what="Reading" />;
  return <img className="preview" src={address} alt={props.path} />;
}

function RowsOf({ read, ...props }: Props & { read: (props: Props) => Promise<Rows> }) {
  const { data, error } = useRead("rows", props, () => read(props));
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Reading" />;
  const columns = data.columns.slice(0, COLUMNS_MAX);
  return (
    <>
      <Table wide headings={columns.map((name, index) => name || `column ${index + 1}`)}>
        {data.rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
          <tr key={index}>
            {columns.map((name, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns may have equal names
              <td key={`${name}/${column}`}>{(row[column] ?? "").slice(0, CELL_LENGTH_MAX)}</td>
            ))}
          </tr>
        ))}
      </Table>
      <p className="faint">{data.note}</p>
    </>
  );
}

async function csvRows({ root, path, size }: Props): Promise<Rows> {
  const { default: papaparse } = await import("papaparse");
  const text = new TextDecoder().decode(await part(root, path, 0, Math.min(size, TEXT_BYTES)));
  const rows = papaparse.parse<string[]>(text, { preview: ROWS_MAX + 1, skipEmptyLines: true }).data;
  return { columns: rows[0] ?? [], rows: rows.slice(1), note: `The first rows, at most ${ROWS_MAX}.` };
}

/** Only the footer and the column chunks of the first rows are read. */
async function parquetRows({ root, path, size }: Props): Promise<Rows> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import("hyparquet");
  const { compressors } = await import("./decompressors");
  const file = { byteLength: size, slice: (first: number, end = size) => part(root, path, first, end) };
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata).children.map((child) => child.element.name);
  const total = `${metadata.num_rows} rows, ${columns.length} columns`;
  const first = metadata.row_groups[0];
  if (!first || Number(first.total_byte_size) > CHUNK_BYTES_MAX)
    return { columns, rows: [], note: `${total}. The rows are in pieces too large to be shown here.` };
  const rows = await parquetReadObjects({
    file,
    metadata,
    compressors,
    columns: columns.slice(0, COLUMNS_MAX),
    rowStart: 0,
    rowEnd: Math.min(ROWS_MAX, Number(first.num_rows)),
  });
  return {
    columns,
    rows: rows.map((row) => columns.map((name) => cell(row[name]))),
    note: `${total}; the first ones.`,
  };
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object") return String(value);
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one));
}
