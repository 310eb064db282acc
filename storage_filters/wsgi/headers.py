"""Headers between proxy and object servers."""

from __future__ import annotations

from collections.abc import Mapping

# Clients cannot send it: Swift's gatekeeper removes X-Backend headers from requests and answers.
SELECTION = "X-Backend-Zoe-Selection"
SELECTED = "X-Backend-Zoe-Selected"
# Requests `cpu_frames`, and in an answer announces them.
FRAMED = "X-Backend-Zoe-Framed"
# A selection in a request for an object; in an answer "yes" if it was applied. The size of the whole object.
PUSHDOWN = "X-Zoe-Pushdown"
OBJECT_BYTES = "X-Zoe-Object-Bytes"
# The definition of a view, stored with its container; a reseller admin sends it to create the view.
VIEW = "X-Zoe-View"
VIEW_SYSMETA = "X-Container-Sysmeta-Zoe-View"
VIEW_SYSMETA_NAME = "zoe-view"
# Version of an object at a gateway; in a PUT, the only version to replace. Two headers, since a copy is put with all
# headers that were read.
VERSION = "X-Backend-Zoe-Version"
REPLACES = "X-Backend-Zoe-Replaces"
# Filters of an object, and its original ETag and size. Clients can neither send nor see these.
DONE = "X-Object-Sysmeta-Zoe-Filters"
PUT_ETAG = "X-Object-Sysmeta-Zoe-Etag"
PUT_SIZE = "X-Object-Sysmeta-Zoe-Size"
# The checksum that an S3 client sent with an object.
CHECKSUM = "X-Object-Sysmeta-Zoe-S3-Checksum"
# Filters that a proxy requests from object servers, and then the filters that they applied, and the ETag and size of
# the sent bytes.
NODE_STEPS = "X-Backend-Zoe-Node-Filters"
NODE_DONE = "X-Object-Sysmeta-Zoe-Node-Filters"
NODE_ETAG = "X-Object-Sysmeta-Zoe-Node-Etag"
NODE_SIZE = "X-Object-Sysmeta-Zoe-Node-Size"
# In an answer of an object server: the filters that it undid, and the number of bytes.
UNDONE = "X-Backend-Zoe-Node-Undone"
NODE_STORED = "X-Backend-Zoe-Node-Stored"
# The execution that makes a request, for object servers.
NODE_EXECUTION = "X-Backend-Zoe-Execution"
# Marks a request as signed by S3, for the subrequests of Swift's filters.
BY_S3 = "X-Backend-Zoe-By-S3"
# Replaces the ETag of the sent bytes: an object server that does not know it refuses the object, by Swift's check.
NODE_MARK = "zoe-filters-on-object"


def object_bytes(headers: Mapping[str, str]) -> str:
    """Return the size of the whole object, by the headers of an answer with all or a range of it."""
    return headers.get("Content-Range", "").rpartition("/")[2] or headers.get("Content-Length", "")


def environ_key(header: str) -> str:
    """Return the header's key in a WSGI environment."""
    return "HTTP_" + header.upper().replace("-", "_")
