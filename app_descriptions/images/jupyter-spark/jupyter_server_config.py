"""Whoever has the token made of the execution's secret may come in; without a secret Jupyter makes its own token."""

import hashlib
import hmac
from pathlib import Path

secret = Path("/run/secrets/zoe-execution")
if secret.exists():
    token = hmac.new(secret.read_bytes(), b"zoe jupyter token", hashlib.sha256).hexdigest()
    c.IdentityProvider.token = token  # noqa: F821 - Jupyter's own configuration
    # Only the execution's tenant reads its output; Jupyter prints no token that it did not make itself.
    print(f"The token of this notebook is {token}", flush=True)
