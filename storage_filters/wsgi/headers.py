"""Names that proxy and object servers agree on."""

from __future__ import annotations

# Clients cannot send it: Swift's gatekeeper removes X-Backend headers from requests and answers.
SELECTION = "X-Backend-Zoe-Selection"
SELECTED = "X-Backend-Zoe-Selected"
# Asks for `cpu_frames`, and says that the answer has them.
FRAMED = "X-Backend-Zoe-Framed"
# The definition of a view, stored with its container; a reseller admin sends it to create the view.
VIEW = "X-Zoe-View"
VIEW_SYSMETA = "X-Container-Sysmeta-Zoe-View"
VIEW_SYSMETA_NAME = "zoe-view"
# Of an object at a gateway; and in a PUT that replaces this version alone. They are two, since copies are put with all
# headers that were read.
VERSION = "X-Backend-Zoe-Version"
REPLACES = "X-Backend-Zoe-Replaces"
# What filters did with an object, and ETag and size of what was put. Clients can neither send nor see these.
DONE = "X-Object-Sysmeta-Zoe-Filters"
PUT_ETAG = "X-Object-Sysmeta-Zoe-Etag"
PUT_SIZE = "X-Object-Sysmeta-Zoe-Size"
# What a proxy asks object servers to do with an object that they store, and what they did: the filters, and ETag and
# size of what they were sent.
NODE_STEPS = "X-Backend-Zoe-Node-Filters"
NODE_DONE = "X-Object-Sysmeta-Zoe-Node-Filters"
NODE_ETAG = "X-Object-Sysmeta-Zoe-Node-Etag"
NODE_SIZE = "X-Object-Sysmeta-Zoe-Node-Size"
# In an answer of an object server: which filters it undid, and how many bytes it has.
UNDONE = "X-Backend-Zoe-Node-Undone"
NODE_STORED = "X-Backend-Zoe-Node-Stored"
# Which execution makes a request, for object servers.
NODE_EXECUTION = "X-Backend-Zoe-Execution"
# That a request is signed as one of S3, for what Swift's filters ask on its behalf.
BY_S3 = "X-Backend-Zoe-By-S3"
# In place of the ETag of what is sent: an object server that does not know it refuses the object, by Swift's own check.
NODE_MARK = "zoe-filters-on-object"


def environ_key(header: str) -> str:
    """Return the header's key in a WSGI environment."""
    return "HTTP_" + header.upper().replace("-", "_")
