"""Options of sessions and runs under onnxruntime's names; what does not apply to hone is accepted without effect."""

from __future__ import annotations

import enum


class GraphOptimizationLevel(enum.IntEnum):
    """How much onnxruntime rewrites a model. hone always compiles the whole graph."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """In which order onnxruntime runs operators. hone runs them one after the other, each on all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """How a session runs. `intra_op_num_threads`, `target`, `records`, `first_choice` and
    `max_specializations` have an effect."""

    def __init__(self) -> None:
        self.intra_op_num_threads: int = 0  #: threads of a run, the caller's included; 0: one per core
        self.target: str = ""  #: what to compile for, as `hone targets` prints it; empty: this machine
        self.records: str = "default"  #: the file that says what tuning found; "none": every kernel is the default one
        self.first_choice: str = "network"  #: what is not tuned: as a trained network predicts, or as rules say ("rules")
        self.max_specializations: int = 64  #: how many combinations of input shapes are kept compiled
        self.inter_op_num_threads: int = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_cpu_mem_arena: bool = True
        self.enable_mem_pattern: bool = True
        self.enable_mem_reuse: bool = True
        self.enable_profiling: bool = False
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self.optimized_model_filepath: str = ""
        self.profile_file_prefix: str = ""
        self.use_deterministic_compute: bool = False
        self._entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Stores a setting of onnxruntime's; none of them changes what hone does."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """A setting that was stored before."""
        return self._entries[key]


class RunOptions:
    """Options of one run. None of them changes what hone does."""

    def __init__(self) -> None:
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self.only_execute_path_to_fetches: bool = False
        self.terminate: bool = False
        self._entries: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Stores a setting of onnxruntime's."""
        self._entries[key] = value
