"""Storage policies that the controller has a program make, at a real Swift."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import SwiftAdmin, SwiftHttp
from storage_controller.swift.storage_policies import NewStoragePolicy, PolicyMaker
from tests.support.long import of_storage
from tests.support.object_store import ADMIN, logged_in, object_store
from zoe_embedded.swift.store import ObjectStore
from zoe_embedded.swift.store_socket import StoreSocket


def wanted(store: ObjectStore, **changes: Any) -> NewStoragePolicy:
    ports = [url.rpartition(":")[2] for name, (kind, url) in sorted(store.servers.items()) if kind == "object"]
    devices = {f"r1z{n}-127.0.0.1:{port}/d{n}": "100" for n, port in enumerate(ports, start=1)}
    fields = {"policy_id": "1", "name": "twice", "partitions": "64", "replicas": "2", "time": 1, **changes}
    return NewStoragePolicy.model_validate({"storage_node": devices, **fields})


def names(store: ObjectStore) -> list[str]:
    policies = SwiftHttp(SwiftAdmin(store.auth_url, ADMIN.login, ADMIN.key)).storage_policies()
    return sorted(str(policy["name"]) for policy in policies)


def copies(store: ObjectStore, index: int) -> int:
    return len(list(store.directory.glob(f"devices/*/*/objects-{index}/*/*/*/*.data")))


@of_storage
def test_containers_use_what_was_made_also_after_the_store_was_started_again() -> None:
    content = secrets.token_bytes(200_000)
    with object_store(make=ObjectStore, nodes=2, replicas=1) as store:
        assert names(store) == ["standard"]
        with StoreSocket(store) as socket:
            maker = PolicyMaker(socket.policy_command, 120.0)
            assert maker.make(wanted(store)) == "the storage policy twice has the index 1"
            code = {"ec_type": "liberasurecode_rs_vand", "ec_num_data_fragments": 1, "ec_num_parity_fragments": 1}
            maker.make(wanted(store, policy_id=7, name="coded", **code))
            for change in ({"name": "other"}, {"policy_id": 2, "name": "TWICE"}, {"policy_id": 3, "replicas": 9}):
                with pytest.raises(RequestRefusedError, match="was not made") as refused:
                    maker.make(wanted(store, **{"name": "third", **change}))
                assert "Traceback" not in refused.value.sentence
            # Within the block: the servers end with the thread that restarted them, which is the socket's.
            assert names(store) == ["coded", "standard", "twice"]
            with logged_in(store, "acme:ann") as ann:
                ann.put("double", **{"X-Storage-Policy": "twice"})
                ann.put("double/x", content)
                ann.put("fragments", **{"X-Storage-Policy": "coded"})
                ann.put("fragments/x", content)
            assert (copies(store, 1), copies(store, 7)) == (2, 2)
        store.close()
        with store, logged_in(store, "acme:ann") as ann:  # its ports are others
            assert names(store) == ["coded", "standard", "twice"]
            assert [ann.call("GET", f"{entry}/x").content for entry in ("double", "fragments")] == [content, content]
            ann.put("double/y", content)
            assert copies(store, 1) == 4
