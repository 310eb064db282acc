import {
  decompressBrotli,
  decompressGzip,
  decompressLz4,
  decompressLz4Raw,
  decompressZstd,
} from "hyparquet-compressors";

/** Without Snappy, which hyparquet brings: the package's own is WebAssembly, which the policy of the pages forbids. */
export const compressors = {
  BROTLI: decompressBrotli,
  GZIP: decompressGzip,
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
  ZSTD: (input: Uint8Array) => decompressZstd(input),
};
