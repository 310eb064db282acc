"""Signatures as the pages of AWS give them for its examples."""

from __future__ import annotations

import calendar
import hashlib

import pytest

from storage_filters.s3_signed.signatures import SignedRequest, why_refused
from storage_gateway.s3.signing import query_of, quoted_path, signed_headers

AT_S = calendar.timegm((2013, 5, 24, 0, 0, 0))
NOTHING = hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ({"lifecycle": ""}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ({"prefix": "J", "max-keys": "2"}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_examples_of_aws(query: dict[str, str], signature: str) -> None:
    headers = signed_headers(
        "GET", "examplebucket.s3.amazonaws.com", "/", query_of(query), {"Range": "bytes=0-9"}, "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1", AT_S, NOTHING,
    )  # fmt: skip
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        f"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={signature}"
    )
    assert headers["Range"] == "bytes=0-9"


def test_sent_path_and_query_are_the_signed_ones() -> None:
    assert quoted_path("/b/ä +%?~/\udcff") == "/b/%C3%A4%20%2B%25%3F~/%FF"
    assert query_of({"prefix": "a/b c", "marker": "ä&="}) == "marker=%C3%A4%26%3D&prefix=a%2Fb%20c"


def test_another_store_of_zoe_takes_what_the_gateway_signs() -> None:
    kept = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Encoding": "gzip",
        "Content-Disposition": 'attachment; filename="a b"',
        "Content-Language": "en",
        "Expires": "Mon, 21 Sep 2026 14:13:20 GMT",
        "Cache-Control": "no-cache",
        "x-amz-meta-a": "b",
        "Content-Length": "3",
        "If-None-Match": "*",
    }
    sent = signed_headers("PUT", "store", "/b/o", "", kept, "acme:ann", "key", "us-east-1", AT_S)
    assert why_refused(SignedRequest.from_query("PUT", "", list(sent.items())), float(AT_S)) is None
    names = sent["Authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert names == sorted(
        [*(name.lower() for name in list(kept)[:5]), "host", "x-amz-content-sha256", "x-amz-date", "x-amz-meta-a"]
    )
    doubtful = signed_headers("PUT", "store", "/b/o", "", {"Content-Disposition": "a  b"}, "a", "key", "r", AT_S)
    assert "content-disposition" not in doubtful["Authorization"], (
        "a store may make one blank of two before it compares"
    )
