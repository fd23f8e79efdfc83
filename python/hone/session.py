"""Sessions: a model that was loaded and can be run, with the calls of onnxruntime's class of that name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hone import _native
from hone.options import RunOptions, SessionOptions

PROVIDER = "CPUExecutionProvider"


def get_available_providers() -> list[str]:
    """What can run models here, in onnxruntime's words."""
    return [PROVIDER]


def get_device() -> str:
    """The kind of device that models run on."""
    return "CPU"


@dataclass(frozen=True)
class ModelMetadata:
    """What a model's file says about itself."""

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = 0
    custom_metadata_map: dict[str, str] = field(default_factory=dict)


class InferenceSession:
    """A loaded model. Any number of threads may run it at once.

    `path_or_bytes` is the name of an ONNX file, or what such a file contains. Shapes that were not seen before are
    compiled when they are first run.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, dict[Any, Any]]] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        del providers, provider_options, kwargs  # there is one provider, and it has no options
        self._options = sess_options or SessionOptions()
        options = _native.Options()
        options.threads = self._options.intra_op_num_threads
        options.target = self._options.target
        options.max_specializations = self._options.max_specializations
        options.records = self._options.records
        options.first_choice = self._options.first_choice
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._session = _native.Session.parse(bytes(path_or_bytes), options, "")
        elif isinstance(path_or_bytes, (str, os.PathLike)):
            self._session = _native.Session.load(os.fspath(path_or_bytes), options)
        else:
            raise TypeError(f"a model is a path or bytes, not {type(path_or_bytes).__name__}")

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Runs the model on the inputs named in `input_feed`, and gives the outputs named, or all.

        Inputs are numpy arrays, anything with `__dlpack__` such as torch tensors, lists of them for sequences, dicts
        for maps, or None for what is left out. Contiguous arrays are read where they are. Outputs are numpy arrays (of
        objects for strings), lists, dicts or None.
        """
        del run_options
        return self._session.run(output_names, input_feed)

    def get_inputs(self) -> list[_native.NodeArg]:
        """The inputs, in their order."""
        return self._session.inputs

    def get_outputs(self) -> list[_native.NodeArg]:
        """The outputs, in their order."""
        return self._session.outputs

    def get_overridable_initializers(self) -> list[_native.NodeArg]:
        """Initializers that the model also lists as inputs: a run may replace them by naming them in its feed.

        hone builds the values of weights into what it compiles. The first run that replaces some compiles anew, without
        them.
        """
        return self._session.overridable

    def get_modelmeta(self) -> ModelMetadata:
        """What the model's file says about itself."""
        notes = dict(self._session.metadata)
        return ModelMetadata(
            producer_name=notes.pop("producer", ""),
            graph_name=notes.pop("graph", ""),
            domain=notes.pop("domain", ""),
            description=notes.pop("description", ""),
            version=int(notes.pop("version", "0") or 0),
            custom_metadata_map=notes,
        )

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._options

    def get_providers(self) -> list[str]:
        """What the model runs on."""
        return [PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of what the model runs on: there are none."""
        return {PROVIDER: {}}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Any = None) -> None:
        """Accepted for onnxruntime's sake; there is one provider."""

    def disable_fallback(self) -> None:
        """Accepted for onnxruntime's sake; there is nothing to fall back to."""

    def enable_fallback(self) -> None:
        """Accepted for onnxruntime's sake; there is nothing to fall back to."""
