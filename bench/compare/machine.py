"""Says where and when something was measured."""
import datetime
import os
from pathlib import Path


def describe() -> str:
    """The CPU's name, family and model, its widest vectors, the cores this process may use, and the memory."""
    cpu = _fields("/proc/cpuinfo")
    flags = cpu.get("flags", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    memory_gib = round(int(_fields("/proc/meminfo").get("MemTotal", "0 kB").split()[0]) / 2**20)
    parts = [cpu.get("model name", "unknown CPU"), f"family {cpu.get('cpu family')} model {cpu.get('model')}", widest,
             f"{len(os.sched_getaffinity(0))} cores", f"{memory_gib} GiB",
             "virtual machine" if "hypervisor" in flags else ""]
    return ", ".join(filter(None, parts))


def load_average() -> float:
    """How many processes wanted a core in the last minute."""
    return round(os.getloadavg()[0], 2)


def commit() -> str:
    """The commit that was built, as ./dev says."""
    return os.environ.get("HONE_COMMIT", "unknown")


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def _fields(file: str) -> dict[str, str]:
    """The first `name: value` lines of a file by their names."""
    found: dict[str, str] = {}
    for line in Path(file).read_text().splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found
