"""Small documents that tests change."""

from __future__ import annotations

import copy
from typing import Any

_FULL: dict[str, Any] = {
    "results": ["out/*.csv", "model.bin"],
    "version": 4,
    "name": "full",
    "kind": "interactive",
    "description": "Every key once.",
    "size": {"run_time_s": 60},
    "time_limit_s": 3600,
    "retries": 2,
    "priority": 5,
    "deadline_s": 7200,
    "components": [
        {
            "name": "server",
            "image": "zoe/server:1",
            "command": ["serve", "--bind", "{host:self}:{port:web}", "--data", "{scratch}", "{files}/serve.py"],
            "work_dir": "{workspace}/site",
            "environment": {
                "INDEX": "{index}",
                "RUN": "{execution}",
                "USER": "{user}",
                "BRACES": "{{}}",
                "KEY": "{secret_file}",
            },
            "volumes": [
                {"name": "data", "target": "/data", "read_only": True},
                {"host_path": "/srv/shared", "target": "/shared"},
            ],
            "resources": {
                "memory": "1GiB",
                "cores": 1.5,
                "limits": {"memory": "2GiB", "cores": 2},
                "shm": "64MiB",
                "devices": {"gpu": 1},
            },
            "essential_count": 1,
            "total_count": 1,
            "startup_order": 1,
            "labels": {"disk": "ssd"},
            "ports": [
                {
                    "name": "web",
                    "number": 8080,
                    "protocol": "http",
                    "path": "/lab",
                    "proxied": True,
                    "sign_in": {"header": "X-Token", "scheme": ""},
                }
            ],
            "readiness": {"http": "web", "path": "/health", "interval_s": 0.5, "timeout_s": 30},
            "ends_application": True,
            "read_only_root": True,
            "stop_grace_s": 5,
            "requirements": ["lightgbm", "pandas[excel]>=2,<3"],
            "build_requirements": True,
            "sources": [{"git": "https://example.org/a.git", "ref": "v1", "into": "a", "secret": "key"}],
            "files": {"serve.py": "print('{a}')\n", "conf/site.json": "{}"},
        },
        {
            "name": "worker",
            "image": "zoe/worker",
            "command": ["work", "{host:server}:{port:server.web}", "{hosts:worker}"],
            "resources": {"memory": 67108864},
            "essential_count": 0,
            "total_count": 3,
        },
    ],
    "storage": {
        "inputs": [
            {
                "name": "meters",
                "uri": "swift2d://meters.zoe/2015",
                "pushdown": {"columns": ["vid", "index"], "where": "city = 'Nice'"},
            },
            {"name": "local", "uri": "file://{workspace}/readings"},
        ],
        "outputs": [{"name": "report", "uri": "s3a://reports/2015"}],
        "bandwidth": {"read": "40MB/s", "write": 1000000, "guarantee": "required"},
    },
}


def full() -> dict[str, Any]:
    """A valid document that uses every key of components, storage and the application."""
    return copy.deepcopy(_FULL)


def small(**component: Any) -> dict[str, Any]:
    """The shortest valid document, its component changed."""
    base = {"name": "main", "image": "zoe/tiny", "resources": {"memory": "64MiB"}}
    return {"version": 4, "name": "small", "components": [{**base, **component}]}


def spark(**use: Any) -> dict[str, Any]:
    """A document that uses the Spark framework."""
    driver = {"name": "driver", "image": "zoe/spark", "resources": {"memory": "1GiB"}, "ends_application": True}
    return {"version": 4, "name": "spark", "frameworks": [{"framework": "spark", **use}], "components": [driver]}
