"""Find sub-resources of S3 that `s3api` does not know. Pure.

`s3api` ignores query parameters that it does not know, so `PUT /bucket/key?retention` would replace the object by a
document of settings, `DELETE /bucket?lifecycle` remove the bucket, and `GET /bucket/key?attributes` return the object.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

UNANSWERED = frozenset(
    (
        *("abac", "accelerate", "analytics", "annotation", "attributes", "encryption", "intelligent-tiering"),
        *("inventory", "legal-hold", "lifecycle", "metadataConfiguration", "metadataInventoryTable"),
        *("metadataJournalTable", "metadataTable", "metrics", "ownershipControls", "policyStatus", "renameObject"),
        *("replication", "retention", "select", "select-type", "session"),
    )
)
"""Sub-resources of S3 that `s3api` ignores, with or without a value; it lists the bucket for `lifecycle`."""


def unanswered(query: Iterable[tuple[str, str]], known: Collection[str]) -> tuple[str, ...]:
    """Return the names in a query that are sub-resources without an answer: those above, and names without a value that
    are neither known nor parameters of signatures.
    """
    return tuple(
        sorted({name for name, value in query if name in UNANSWERED or (not value and not _is_known(name, known))})
    )


def _is_known(name: str, known: Collection[str]) -> bool:
    return name in known or name.lower().startswith("x-amz-") or not name
