"""What an S3 request may ask for, as a function of the client's request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.s3_signed.signatures import V2_QUERY, Refusal, SignedRequest, is_streamed, why_refused
from storage_filters.s3_signed.sub_resources import UNANSWERED

NOW_S = 1_790_000_000.0
DATE = "20260921T141320Z"
LATER, TOO_LATE = "20260921T142820Z", "20260921T142821Z"
SIGNATURE = "ab" * 32
CREDENTIAL = "acme:ann/20260921/us-east-1/s3/aws4_request"
HOST = ("Host", "store:8080")
SHA = ("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
INSTRUCTIONS = (
    *("x-amz-copy-source", "x-amz-acl", "x-amz-meta-a", "X-AMZ-Grant-Read", "x_amz_acl", "x-amz-copy-source-range"),
    *("x-amz-content-sha256", "x-amz-date", "x-amz-metadata-directive", "x-amz-storage-class", "x-amz-trailer"),
    *("X-Copy-From", "X-Copy-From-Account", "X-Object-Manifest", "X-Delete-At", "X-Delete-After", "X-Symlink-Target"),
    *("X-Object-Meta-A", "X_Object_Meta_A", "X-Container-Read", "X-Container-Meta-Quota-Bytes", "X-Account-Meta-A"),
    *("X-Remove-Container-Read", "X-Versions-Location", "X-Storage-Policy", "X-Static-Large-Object", "X-Newest"),
    *("X-Timestamp", "X-Backend-Storage-Policy-Index", "X-Roles", "X-Project-Id", "X-Identity-Status", "X-Robots-Tag"),
    *("X-Zoe-View", "X-Zoe-Rewrite", "X-Zoe-Why", "X-Fresh-Metadata", "X-HTTP-Method-Override", "X-New-To-Us"),
    *("Destination", "Destination-Account", "ETag"),
)
PLAIN = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Connection", "Content-Length", "Content-MD5", "Cookie", "Date"),
    *("Expect", "If-Match", "If-Modified-Since", "If-None-Match", "If-Unmodified-Since", "Origin", "Pragma", "Range"),
    *("Referer", "Sec-Fetch-Mode", "TE", "Transfer-Encoding", "User-Agent", "Via", "amz-sdk-invocation-id"),
    *("amz-sdk-request", "Cache-Control", "traceparent", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP"),
    *("X-Request-Id", "X-Amzn-Trace-Id", "X-B3-TraceId"),
)


def presigned(method: str = "PUT", *headers: tuple[str, str], query: str = "", signed: str = "host") -> Refusal | None:
    text = (
        f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={CREDENTIAL.replace('/', '%2F')}&X-Amz-Date={DATE}"
        f"&X-Amz-Expires=60&X-Amz-SignedHeaders={signed.replace(';', '%3B')}&X-Amz-Signature={SIGNATURE}"
    )
    return why_refused(SignedRequest.from_query(method, f"{text}&{query}".rstrip("&"), [HOST, *headers]), NOW_S)


def by_header(
    *headers: tuple[str, str], signed: str = "host;x-amz-content-sha256", query: str = "", text: str | None = None
) -> Refusal | None:
    line = text or f"AWS4-HMAC-SHA256 Credential={CREDENTIAL}, SignedHeaders={signed}, Signature={SIGNATURE}"
    return why_refused(SignedRequest.from_query("PUT", query, [HOST, SHA, ("Authorization", line), *headers]), NOW_S)


def version2(*headers: tuple[str, str], query: str = "", method: str = "PUT", url: bool = True) -> Refusal | None:
    if url:
        query = f"AWSAccessKeyId=acme:ann&Expires=1790000060&Signature=abc%3D&{query}".rstrip("&")
        return why_refused(SignedRequest.from_query(method, query, [HOST, *headers]), NOW_S)
    line = ("Authorization", "AWS acme:ann:abc=")
    return why_refused(SignedRequest.from_query(method, query, [HOST, line, *headers]), NOW_S)


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_header_that_says_what_to_do_must_be_signed(name: str) -> None:
    for method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
        refusal = presigned(method, (name, "value"))
        assert refusal is not None, method
        assert refusal.code == "AccessDenied"
        assert refusal.names == (name.lower(),)
        assert name.lower() in refusal.sentence
    assert presigned("PUT", (name, "value"), signed=f"host;{name.lower()}") is None
    if name.lower() != SHA[0]:
        assert by_header((name, "value")) is not None
    assert by_header((name, "value"), signed=f"host;x-amz-content-sha256;{name.lower()}") is None


@pytest.mark.parametrize(
    "query", ["attributes", "retention", "legal-hold=", "select&select-type=2", "lifecycle", "foo"]
)
def test_a_sub_resource_without_an_answer_is_refused_and_the_object_is_neither_sent_nor_replaced(query: str) -> None:
    for method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
        refusal = presigned(method, query=query)
        assert refusal is not None, method
        assert (refusal.code, refusal.names[0]) == ("S3NotImplemented", query.partition("&")[0].partition("=")[0])
    assert by_header(query=query) is not None


@pytest.mark.parametrize(
    "query",
    ["uploads", "tagging", "prefix=&list-type=2", "foo=1", "x-id=GetObject", "x-amz-checksum-mode=ENABLED", "acl"],
)
def test_other_parameters_pass(query: str) -> None:
    assert presigned("GET", query=query) is None
    assert by_header(query=query) is None


@pytest.mark.parametrize("name", PLAIN)
def test_plain_headers_need_no_signature(name: str) -> None:
    for method in ("GET", "PUT", "POST", "DELETE"):
        assert presigned(method, (name, "value")) is None
    assert by_header((name, "value")) is None
    assert version2((name, "value")) is None


def test_stored_headers_must_be_signed() -> None:
    for name in ("Content-Type", "Content-Encoding", "Content-Disposition", "Content-Language", "Expires"):
        assert presigned("PUT", (name, "x")) is not None
        assert presigned("POST", (name, "x"), query="uploads") is not None
        assert presigned("POST", (name, "x"), query="uploadId=abc") is None
        assert presigned("GET", (name, "x")) is None
    assert version2(("Content-Type", "text/html")) is None, "version 2 signs it"
    assert version2(("Content-Encoding", "gzip")) is not None


@pytest.mark.parametrize(
    "header",
    [
        ("Cache-Control", "a\r\n Set-Cookie: b"),
        ("x-\x1b[31mred", "a"),
        ("x-amz-copy-source\x00", "a"),
        ("x-a", "a\x0bb"),
    ],
)
def test_control_characters_and_folded_lines_are_refused_without_their_text(header: tuple[str, str]) -> None:
    for refusal in (presigned("PUT", header), by_header(header), version2(header)):
        assert refusal is not None
        assert (refusal.code, refusal.names, refusal.sentence.isprintable()) == ("InvalidRequest", (), True)
    assert presigned("PUT", ("User-Agent", "a\tb\r\n")) is None


def test_chunks_of_a_body_are_no_encoding_that_is_stored() -> None:
    def streamed(encoding: str, digest: str, *more: tuple[str, str]) -> Refusal | None:
        line = (
            f"AWS4-HMAC-SHA256 Credential={CREDENTIAL}, SignedHeaders=host;x-amz-content-sha256, Signature={SIGNATURE}"
        )
        headers = [
            HOST,
            ("x-amz-content-sha256", digest),
            ("Authorization", line),
            ("Content-Encoding", encoding),
            *more,
        ]
        return why_refused(SignedRequest.from_query("PUT", "", headers), NOW_S)

    assert streamed("aws-chunked", "STREAMING-UNSIGNED-PAYLOAD-TRAILER") is None
    second = ("content-encoding", "gzip")
    assert streamed("aws-chunked", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", second) is not None
    assert streamed("aws-chunked, gzip", "STREAMING-UNSIGNED-PAYLOAD-TRAILER") is not None
    assert streamed("aws-chunked", "UNSIGNED-PAYLOAD") is not None, "stored as it is"


def test_an_admin_names_further_plain_headers() -> None:
    request = SignedRequest.from_query(
        "GET", f"X-Amz-Credential=a&X-Amz-Date={DATE}&X-Amz-SignedHeaders=host", [("X-Own", "1")]
    )
    assert why_refused(request, NOW_S) is not None
    assert why_refused(request, NOW_S, frozenset(("x-own",))) is None


def test_each_spelling_of_a_header_must_be_signed_itself() -> None:
    both = (("x-amz-meta-a", "1"), ("x-amz_meta-a", "2"))
    assert presigned("PUT", *both, signed="host;x-amz-meta-a") is not None


def test_the_host_must_be_signed() -> None:
    for refusal in (presigned(signed="x-amz-date"), presigned(signed=""), by_header(signed="x-amz-content-sha256")):
        assert refusal is not None
        assert refusal.names == ("host",)


def test_a_user_agent_does_not_take_the_port_out_of_the_host() -> None:
    for agent, refused in (
        ("Boto/2.9.2 (linux2)", True),
        ("Boto/2.49.0", False),
        ("Boto3/1.43", False),
        ("curl", False),
    ):
        for refusal in (presigned("GET", ("User-Agent", agent)), by_header(("User-Agent", agent))):
            assert (refusal is not None) is refused, agent


@pytest.mark.parametrize(
    ("date", "allowed"),
    [(DATE, True), (LATER, True), (TOO_LATE, False), ("20991231T000000Z", False), ("20261301T000000Z", False)]
    + [(text, False) for text in ("", "2026-09-21", "20260921T141320z", DATE + "Z", "٢0260921T141320Z")],
)
def test_a_date_may_be_a_quarter_of_an_hour_ahead(date: str, allowed: bool) -> None:
    query = [("X-Amz-Credential", CREDENTIAL), ("X-Amz-Date", date), ("X-Amz-SignedHeaders", "host")]
    refusal = why_refused(SignedRequest("GET", query, [("host", "x")]), NOW_S)
    assert (refusal is None) is allowed
    assert refusal is None or "X-Amz-Date" in refusal.sentence


@pytest.mark.parametrize("name", ["versionId", "X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Date", "uploads"])
def test_a_doubled_parameter_is_refused(name: str) -> None:
    refusal = presigned(query=f"{name}=a&{name}=b")
    assert refusal is not None
    assert (refusal.code, refusal.names) == ("InvalidArgument", (name,))
    assert by_header(query="versionId=a&versionId=a") is not None
    assert version2(query="versionId=a&versionId=b") is not None


@pytest.mark.parametrize("name", ["Authorization", "Host", "Content-Type", "Content-Length"])
def test_a_doubled_header_is_refused(name: str) -> None:
    signed = f"host;{name.lower()}"
    refusal = presigned("PUT", (name, "AWS a:b"), (name, "AWS a:b"), signed=signed)
    assert refusal is not None
    assert name.lower() in refusal.names


def test_a_second_authorization_is_refused() -> None:
    for name in ("X-Auth-Token", "X-Storage-Token", "X-Service-Token", "X-Auth-Key", "X_Auth_Token"):
        for refusal in (
            presigned("GET", (name, "t"), signed=f"host;{name.lower()}"),
            by_header((name, "t")),
            version2((name, "t"), url=False),
        ):
            assert refusal is not None
            assert refusal.code == "InvalidArgument"
    line = f"AWS4-HMAC-SHA256 Credential={CREDENTIAL}, SignedHeaders=host, Signature={SIGNATURE}"
    for header in ("AWS acme:ann:abc=", line, "Bearer x"):
        assert presigned("GET", ("Authorization", header), signed="host;authorization") is not None
        assert version2(("Authorization", header)) is not None
    for query in ("AWSAccessKeyId=a", "Signature=a", "X-Amz-Signature=b", "X-Amz-SignedHeaders=host;x-amz-acl"):
        assert by_header(query=query) is not None, query
        assert version2(url=False, query=query) is not None, query
    for query in ("AWSAccessKeyId=a", "Signature=a", "Expires=1", "temp_url_sig=a"):
        assert presigned(query=query) is not None, query
    assert version2(query=f"X-Amz-Credential={CREDENTIAL}") is not None


@pytest.mark.parametrize(
    "line",
    [
        "AWS4-HMAC-SHA256 Credential={c}, SignedHeaders=host, SignedHeaders=host;x-amz-acl, Signature={s}",
        "AWS4-HMAC-SHA256 Credential={c}SignedHeaders=host;x-amz-acl, SignedHeaders=host, Signature={s}",
        "AWS4-HMAC-SHA256 Credential={c}, SignedHeaders=host;x-amz-aclSignature={s}, Signature={s}",
        "AWS4-HMAC-SHA256 Credential={c}, SignedHeaders=host Signature={s}",
        "AWS4-HMAC-SHA256 Credential={c}, SignedHeaders=host, Signature={s}, More=1",
        "AWS4-HMAC-SHA256 Credential={c}, SignedHeaders=host",
        "AWS4-HMAC-SHA256 ",
    ],
)
def test_an_authorization_that_can_be_read_in_two_ways_is_refused(line: str) -> None:
    refusal = by_header(text=line.format(c=CREDENTIAL, s=SIGNATURE), signed="")
    assert refusal is not None
    assert refusal.code == "AuthorizationHeaderMalformed"


def test_blanks_and_the_order_in_an_authorization_are_free() -> None:
    for line in (
        f"AWS4-HMAC-SHA256 Credential={CREDENTIAL},SignedHeaders=host;x-amz-content-sha256,Signature={SIGNATURE}",
        f"AWS4-HMAC-SHA256 SignedHeaders=host;x-amz-content-sha256, Signature={SIGNATURE}, Credential={CREDENTIAL}",
    ):
        assert by_header(text=line) is None


def test_version_2_signs_its_own_names_and_no_others() -> None:
    assert version2(("x-amz-acl", "private"), ("x-amz-meta-a", "1")) is None
    for name in ("X-Copy-From", "X-Object-Manifest", "X-Delete-After", "x_amz_acl", "x-amz_acl"[:5] + "_acl"):
        assert version2((name, "v")) is not None, name
        assert version2((name, "v"), url=False) is not None, name
    for name in sorted(V2_QUERY - UNANSWERED):
        assert version2(query=f"{name}=1") is None, name
        assert version2(query=f"{name}=1", url=False) is None, name
    for query in ("prefix=a", "format=json", "multipart-manifest=get", "X-Amz-Date=a", "Timestamp=a"):
        refusal = version2(query=query, method="GET")
        assert refusal is not None, query
        assert "version 4" in refusal.sentence
    for query in ("x-id=GetObject", "content-type=text%2Fcsv", "x-amz-acl=private"):
        assert version2(query=query) is None, "of boto3 and of AWS's SDK for Go, and without a reader"
    assert version2(query="prefix=a&max-keys=3&list-type=2", method="GET", url=False) is None
    assert version2(query="extract-archive=tar", url=False) is not None
    assert version2(query="partNumber=1%26uploadId%3Dabc") is not None, "the same signature as of two parameters"


@pytest.mark.parametrize("query", ["extract-archive=tar", "bulk-delete", "bulk-delete="])
def test_bulk_requests_are_not_of_s3_signed_or_not(query: str) -> None:
    for refusal in (presigned(query=query), by_header(query=query), version2(query=query)):
        assert refusal is not None
        assert refusal.code == "InvalidArgument"


def test_an_empty_upload_is_none() -> None:
    for query in ("uploadId=", "uploadId", "partNumber=1&uploadId=", "versionId="):
        for refusal in (presigned(query=query), by_header(query=query), version2(query=query)):
            assert refusal is not None
            assert refusal.code == "InvalidArgument"
    assert presigned(query="uploadId=abc&partNumber=1") is None


@pytest.mark.parametrize("value", ["+5", "1_0", " 5", "5 ", "-0", "٥", "9" * 20])
def test_a_length_is_in_digits(value: str) -> None:
    signed = "host;x-amz-content-sha256;x-amz-decoded-content-length"
    assert by_header(("x-amz-decoded-content-length", value), signed=signed) is not None
    for other in ("", "-1", "0x5", "5.0", "many"):
        assert by_header(("x-amz-decoded-content-length", other), signed=signed) is None, "s3api has errors of its own"
    assert by_header(("x-amz-decoded-content-length", "5"), signed=signed) is None


def test_requests_that_are_not_of_s3_pass() -> None:
    for headers in ([("X-Auth-Token", "t"), ("X-Copy-From", "/a/b")], [("Authorization", "Basic x")], []):
        assert why_refused(SignedRequest.from_query("PUT", "format=json&format=xml", headers), NOW_S) is None


def test_a_body_in_chunks_is_known_by_its_header() -> None:
    for value, streamed in (("STREAMING-UNSIGNED-PAYLOAD-TRAILER", True), ("UNSIGNED-PAYLOAD", False)):
        request = SignedRequest.from_query("PUT", "", [("X-Amz-Content-SHA256", value)])
        assert is_streamed(request) is streamed
    assert not is_streamed(SignedRequest.from_query("GET", "", [("x-amz-content-sha256", "STREAMING-X")]))


NAMES = st.text(st.sampled_from("abz09-_"), min_size=1, max_size=20)


@given(NAMES, st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD"]))
def test_no_unsigned_header_of_s3_or_of_swift_passes(rest: str, method: str) -> None:
    for family in ("x-amz-", "X-Object-", "X-Container-", "x-account-", "X-Backend-", "X-Zoe-", "X_Amz_", "x-"):
        name = family + rest
        on_the_way = ("forwarded", "amzn", "b3-", "datadog", "envoy", "cluster", "cloud", "corre", "real", "req", "sch")
        if family == "x-" and rest.startswith(on_the_way):
            continue
        assert presigned(method, (name, "v")) is not None, name
