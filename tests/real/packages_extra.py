"""Further packages with models, beyond those that hone must run."""

from __future__ import annotations

from catalogue import Package

EXTRA: tuple[Package, ...] = ()
