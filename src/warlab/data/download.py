"""Download one file over HTTP: resume where it stopped, retry when the network fails.

The content is not checked here; the caller compares checksums before it uses the file.
"""

import os
import time
from pathlib import Path

import requests
import urllib3

from warlab.common.progress import Progress

ATTEMPTS = 3
BACKOFF = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = (10.0, 30.0)  # seconds to connect, seconds without a byte
_CHUNK = 1 << 16
_RETRIED_STATUS = {408, 425, 429, 500, 502, 503, 504}
_RETRIED_ERRORS = (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError)


class Unavailable(Exception):
    """A place does not give a file, and why; the next place is tried."""


class _Interrupted(Exception):
    """A temporary failure: another attempt continues where the file stopped."""


def download(address: str, part: Path, size: int) -> None:
    """Download the rest of the file `part` from `address`; more than `size` bytes are refused."""
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(address, part, size)
        except (_Interrupted, *_RETRIED_ERRORS) as error:
            reason = _reason(error)
        except requests.RequestException as error:
            raise Unavailable(_reason(error)) from error
        if attempt + 1 < ATTEMPTS:
            time.sleep(BACKOFF * 2**attempt)
    raise Unavailable(f"{reason}, {ATTEMPTS} times")


def _reason(error: Exception) -> str:
    """A short reason: the messages of the libraries contain reprs of whole objects."""
    if isinstance(error, _Interrupted):
        return str(error)
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(error, urllib3.exceptions.ProtocolError):
        return "the connection broke off"
    return "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__


def _attempt(address: str, part: Path, size: int) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have == size:
        return
    # "identity": compression by the server would change both the range and the checksum.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(address, headers=headers, stream=True, timeout=TIMEOUT) as response:
        status, length = response.status_code, response.headers.get("Content-Length", "")
        if status == 416:
            part.unlink(missing_ok=True)
            raise _Interrupted("it could not continue a partial file")
        if status in _RETRIED_STATUS:
            raise _Interrupted(f"answer {status}")
        if status not in (200, 206):
            raise Unavailable(f"answer {status}")
        start = have if status == 206 else 0  # the server ignores ranges
        _receive(response, part, start, start + int(length) if length.isdigit() else None, size)


def _receive(response: requests.Response, part: Path, start: int, total: int | None, size: int) -> None:
    """Write the response into the file from byte `start` on."""
    have = start
    progress = Progress(part.name.removesuffix(".part") + ": {:.1f} of {:.1f} MB", total or size, start, unit=10**6)
    with part.open("ab" if start else "wb") as file:
        for piece in response.raw.stream(_CHUNK, decode_content=False):
            have += len(piece)
            if have > size:
                part.unlink()
                raise Unavailable(f"it sent more than the expected {size} bytes")
            file.write(piece)
            progress(have)
        file.flush()
        os.fsync(file.fileno())
    if total is not None and have < total:
        raise _Interrupted(f"the connection broke off after {have} of {total} bytes")
