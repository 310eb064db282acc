import { api, told } from "../../api/client";
import { fromBase64 } from "./log-lines";

// As much as the API gives at once.
const PIECE_BYTES = 1 << 20;
// Back-ends keep 16 MiB unless told otherwise; what prints faster than this reads would never come to an end.
const BYTES_MAX = 256 << 20;

/** All output that is kept of a service, byte by byte as it was written. */
export async function keptOutput(executionId: string, serviceId: string): Promise<Blob> {
  const path = { execution_id: executionId, service_id: serviceId };
  const pieces: BlobPart[] = [];
  let offset = 0;
  for (let bytes = 0; bytes < BYTES_MAX; ) {
    const query = { offset, limit: PIECE_BYTES };
    const chunk = await told(
      api.GET("/api/v1/executions/{execution_id}/services/{service_id}/logs", { params: { path, query } }),
    );
    const piece = fromBase64(chunk.data);
    pieces.push(piece);
    if (chunk.complete || piece.length === 0) break;
    bytes += piece.length;
    offset = chunk.next_offset;
  }
  return new Blob(pieces);
}
