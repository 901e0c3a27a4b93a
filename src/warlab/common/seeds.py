"""Seeds: every random number of a study follows from names and numbers, the same on every machine."""

import hashlib


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed from the names it depends on: derive_seed("noise", "cifar10", …)."""
    return int(hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:16], 16) >> 1
