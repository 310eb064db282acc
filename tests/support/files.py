"""A client of the file program, like the API."""

from __future__ import annotations

from typing import Any

import httpx

from zoe_master.backends.base import Endpoint


class FileProgram(httpx.Client):
    """A client of one; paths are texts as `zoe_client.words.file_paths` writes them."""

    def __init__(self, endpoint: Endpoint, root: str = "workspace") -> None:
        base, headers = f"http://{endpoint.host}:{endpoint.port}/{root}", {"Authorization": f"Bearer {endpoint.secret}"}
        super().__init__(base_url=base, headers=headers, trust_env=False, timeout=30)

    def page(self, path: str = "", **parameters: object) -> dict[str, Any]:
        answer = self.get("/", params={"path": path, **parameters})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def names(self, path: str = "") -> list[str]:
        return [entry["name"] for entry in self.page(path)["entries"]]

    def content(self, path: str, **headers: str) -> httpx.Response:
        return self.get("/content", params={"path": path}, headers=headers)

    def begin(self, path: str, length: int) -> httpx.Response:
        return self.post("/uploads", params={"path": path}, headers={"Upload-Length": str(length)})

    def append(self, upload: str, offset: int, content: bytes) -> httpx.Response:
        return self.patch(f"/uploads/{upload}", headers={"Upload-Offset": str(offset)}, content=content)

    def put_file(self, path: str, content: bytes) -> None:
        begun = self.begin(path, len(content))
        assert begun.status_code == 201, begun.text
        if content:
            done = self.append(begun.headers["Upload-Id"], 0, content)
            assert done.status_code == 204, done.text


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """Return the sentence of a refusal."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    return str(answer.json()["detail"])
