"""Templates: schedules written in Python, with knobs for what tuning shall decide.

    @hone.template
    def mine(config: hone.Config, schedule: hone.Schedule) -> None:
        rows = config.split("rows", schedule.extent("i"))
        schedule.split("i", rows)

A template runs once for each kernel to declare its knobs, and again for each candidate, whose decisions the same calls
then give. It fits a kernel if it ends without hone.Error; other exceptions are mistakes, and end tuning.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Mapping, Sequence
from typing import overload

from hone import _native

REST = 0  #: in Schedule.split: the factor that is as large as needed

Lists = Sequence[Sequence[int]]


class Config:
    """What a template declares, and what a candidate decides."""

    def __init__(self, native: _native.Config) -> None:
        self._native = native

    def split(
        self,
        knob: str,
        extent: int,
        *,
        outputs: int = 2,
        policy: str = "factors",
        max_factor: int | None = None,
        tails: bool | None = None,
        candidates: Lists | None = None,
        keep: Callable[[list[int]], bool] | None = None,
        fallback: Sequence[int] | None = None,
    ) -> list[int]:
        """Factors for a loop of this extent, outermost first: REST, then those of the inner loops.

        The policy says what factors are made of: 'factors' divide the extent, 'power2' are powers of two, 'verbose' both,
        'candidate' takes the options as they are listed, each -1 and then factors. `tails` allows or forbids factors that
        do not divide; `keep` is asked about each option; `fallback` has the largest factors, outer to inner, to take when
        nothing is known, -1 for any.
        """
        return self._native.split(knob, extent, outputs, policy, max_factor, tails, candidates, keep, fallback)

    def reorder(
        self,
        knob: str,
        loops: Sequence[str],
        *,
        policy: str = "all",
        interval: tuple[int, int] = (0, 0),
        candidates: Lists = (),
        spatial: Lists = (),
        reduced: Lists = (),
        fallback: int = 0,
    ) -> list[str]:
        """These loops in another order.

        Policies: 'identity', 'all', 'interval_all' (those in [begin, end)), 'candidate' (lists of places), 'interleave' and
        'interleave_cuda' (chains of places).
        """
        return self._native.reorder(knob, loops, policy, interval, candidates, spatial, reduced, fallback)

    def annotate(self, knob: str, loops: Sequence[str], policy: str) -> list[int]:
        """How each of the loops runs, for Schedule.mark: 'try_unroll', 'try_vec', 'try_unroll_vec', 'bind_gpu', …"""
        return self._native.annotate(knob, len(loops), policy)

    def locate(self, knob: str, loops: Sequence[str], anchors: int = 1) -> list[str]:
        """As many of the loops as there are anchors."""
        return [loops[place] for place in self._native.locate(knob, len(loops), anchors)]

    def choose(self, knob: str, numbers: Sequence[int], fallback: int = 0) -> int:
        """One of these numbers; the one at place `fallback` when nothing is known."""
        return self._native.choose(knob, numbers, fallback)

    def keep_if(self, predicate: Callable[[Mapping[str, list[int]]], bool]) -> None:
        """Leaves out candidates of whose decisions, by knob, the predicate says False. It is asked only when one is built."""
        self._native.keep_if(predicate)

    def refuse(self, reason: str) -> None:
        """Says that the template does not fit, or that there is no such candidate."""
        raise _native.Error(reason)


class Schedule:
    """A program under schedule. Each step is checked: what would change the result is refused by hone.Error."""

    def __init__(self, native: _native.Schedule) -> None:
        self._native = native

    def __str__(self) -> str:
        """The program as text."""
        return self._native.text()

    # What is there ---------------------------------------------------------------------------------------------------

    @property
    def blocks(self) -> list[str]:
        """The names of all blocks, in the order of the program."""
        return self._native.blocks()

    def loops(self, block: str) -> list[str]:
        """The names of the loops around a block, outermost first."""
        return self._native.loops(block)

    def extent(self, loop: str) -> int:
        """The number of iterations of a loop."""
        return self._native.extent(loop)

    def reads(self, block: str) -> list[str]:
        """The names of the buffers that a block reads."""
        return self._native.reads(block)

    def readers(self, block: str) -> list[str]:
        """The names of the blocks that read what a block writes."""
        return self._native.readers(block)

    @property
    def constants(self) -> list[str]:
        """The names of the inputs that never change between runs: they may be packed."""
        return self._native.constants()

    @property
    def main_reduction(self) -> str:
        """The block that reduces most; empty if there is none."""
        return self._native.main_reduction()

    @property
    def lanes(self) -> int:
        """How many 32-bit numbers a vector register of the target holds."""
        return self._native.lanes

    @property
    def registers(self) -> int:
        """How many vector registers the target has."""
        return self._native.registers

    @property
    def threads(self) -> int:
        """How many threads kernels run on."""
        return self._native.threads

    # What is done to all blocks at once ------------------------------------------------------------------------------

    def inline_blocks(self) -> None:
        """Computes what costs nothing where it is read, and lets blocks run along the layouts of their tensors."""
        self._native.inline_blocks()

    def schedule_other_blocks(self, done: str) -> None:
        """Schedules all blocks but one by hone's own rules."""
        self._native.schedule_other_blocks(done)

    def store_in_reading_order(self, block: str, buffer: str) -> None:
        """Stores a buffer in the order in which the loops around a block read it; constants are packed ahead of time."""
        self._native.store_in_reading_order(block, buffer)

    def mark(self, loops: Sequence[str], marks: Sequence[int]) -> None:
        """Lets loops, outermost first, run as Config.annotate decided."""
        self._native.mark(loops, marks)

    # Primitives ------------------------------------------------------------------------------------------------------

    def split(self, loop: str, factors: Sequence[int]) -> list[str]:
        """Splits a loop into loops of these extents, outermost first, one of which may be REST; gives their names."""
        self._apply("split", loop=loop, factors=list(factors))
        return [f"{loop}.{i}" for i in range(len(factors))]

    def fuse(self, *loops: str) -> str:
        """Makes one loop of several nested ones, outermost first; gives its name."""
        self._apply("fuse", loops=list(loops))
        return "@".join(loops)

    def reorder(self, loops: Sequence[str]) -> None:
        """Puts loops of one nest into this order."""
        self._apply("reorder", loops=list(loops))

    def parallel(self, loop: str) -> None:
        """Shares the iterations of a loop out to the threads."""
        self._apply("parallel", loop=loop)

    def vectorize(self, loop: str) -> None:
        """Runs the iterations of a loop in the lanes of vectors."""
        self._apply("vectorize", loop=loop)

    def unroll(self, loop: str) -> None:
        """Writes a loop out as copies of its body."""
        self._apply("unroll", loop=loop)

    def bind(self, loop: str, index: str) -> None:
        """Binds a loop to an index of a GPU: 'block_x', 'thread_x', …, 'vthread'."""
        self._apply("bind", loop=loop, index=index)

    def annotate(self, target: str, key: str, value: str) -> None:
        """Attaches a hint to a loop or block."""
        self._apply("annotate", target=target, key=key, value=value)

    def compute_at(self, block: str, loop: str) -> None:
        """Computes what a consumer's loop needs of a block right there."""
        self._apply("compute_at", block=block, loop=loop)

    def reverse_compute_at(self, block: str, loop: str) -> None:
        """Computes of a consumer what a loop of its producer has made right there."""
        self._apply("reverse_compute_at", block=block, loop=loop)

    def compute_inline(self, block: str) -> None:
        """Computes a block wherever its value is read."""
        self._apply("compute_inline", block=block)

    def reverse_compute_inline(self, block: str) -> None:
        """Computes a block on each element as its producer makes it."""
        self._apply("reverse_compute_inline", block=block)

    def cache_read(self, block: str, buffer: str, scope: str = "global") -> None:
        """Lets a block read a buffer through a copy."""
        self._apply("cache_read", block=block, buffer=buffer, scope=scope)

    def cache_write(self, block: str, scope: str = "global") -> None:
        """Lets a block write its result through a copy."""
        self._apply("cache_write", block=block, scope=scope)

    def rfactor(self, block: str, loop: str) -> None:
        """Splits a reduction off into partial results, one for each iteration of a loop."""
        self._apply("rfactor", block=block, loop=loop)

    def decompose_reduction(self, block: str, loop: str) -> None:
        """Initialises a reduction in a block of its own, right before a loop."""
        self._apply("decompose_reduction", block=block, loop=loop)

    def set_scope(self, buffer: str, scope: str) -> None:
        """Moves a buffer to another kind of memory: 'global', 'shared', 'local', 'register'."""
        self._apply("set_scope", buffer=buffer, scope=scope)

    def storage_align(self, buffer: str, axis: int, factor: int, offset: int) -> None:
        """Pads rows so that the stride of an axis leaves `offset` when divided by `factor`."""
        self._apply("storage_align", buffer=buffer, axis=axis, factor=factor, offset=offset)

    def transform_layout(self, buffer: str, index_map: str) -> None:
        """Stores a buffer in another order: '(k, n) -> (n // 16, k, n % 16)'."""
        self._apply("transform_layout", buffer=buffer, map=index_map)

    def pad(self, block: str, multiples: Sequence[int]) -> None:
        """Rounds the extents of a block up to multiples."""
        self._apply("pad", block=block, multiples=list(multiples))

    def split_variable(self, block: str, variable: str, factor: int) -> None:
        """Replaces an iteration variable by two."""
        self._apply("split_variable", block=block, variable=variable, factor=factor)

    def double_buffer(self, buffer: str, loop: str) -> None:
        """Gives a buffer two copies, used in turn by the iterations of a loop."""
        self._apply("double_buffer", buffer=buffer, loop=loop)

    def software_pipeline(self, loop: str) -> None:
        """Runs the first statement of a loop one iteration ahead of the others."""
        self._apply("software_pipeline", loop=loop)

    def prefetch(self, buffer: str, loop: str, distance: int) -> None:
        """Fetches what a loop will read of a buffer so many iterations later."""
        self._apply("prefetch", buffer=buffer, loop=loop, distance=distance)

    def spread_prefetch(self, buffer: str, loop: str, inner: str, distance: int) -> None:
        """The same, in equal shares with the iterations of a loop inside of it."""
        self._apply("spread_prefetch", buffer=buffer, loop=loop, inner=inner, distance=distance)

    def tensorize(self, loop: str, intrinsic: str) -> None:
        """Puts a tensor intrinsic in place of a nest."""
        self._apply("tensorize", loop=loop, intrinsic=intrinsic)

    def _apply(self, step: str, **fields: object) -> None:
        self._native.apply(json.dumps({"step": step, **fields}))


Function = Callable[[Config, Schedule], None]


@overload
def template(function: Function) -> Function: ...
@overload
def template(*, name: str) -> Callable[[Function], Function]: ...
def template(function: Function | None = None, *, name: str = "") -> Function | Callable[[Function], Function]:
    """Adds a schedule function to the templates that `hone.tune(..., space="template")` tries first.

    Templates are known by their names, under which candidates are stored: one that sessions shall use must be added
    before they are made.
    """

    def add(added: Function) -> Function:
        _native.add_template(name or added.__name__, lambda config, schedule: added(Config(config), Schedule(schedule)))
        return added

    return add if function is None else add(function)


atexit.register(_native.clear_templates)
