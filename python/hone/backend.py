"""The standard backend interface of the onnx package, so that its test suite and other tools can drive hone.

    import hone.backend

    outputs = hone.backend.run_model(onnx.load("model.onnx"), [array])

A model that hone cannot run raises `hone.Error`, with the code "unsupported" if an operator or attribute is the cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from hone import _native
from hone.session import InferenceSession


def element_name(type_text: str) -> str:
    """The element type inside a type as sessions write it: "float" for "seq(tensor(float))"; empty if there is none."""
    _, found, rest = type_text.partition("tensor(")
    return rest.partition(")")[0] if found else ""


def package_dtype(name: str) -> np.dtype[Any]:
    """The dtype under which the installed onnx package keeps elements of a type: it has changed between versions."""
    empty = onnx.TensorProto(data_type=onnx.TensorProto.DataType.Value(name.upper()), dims=[0])
    dtype: np.dtype[Any] = numpy_helper.to_array(empty).dtype
    return dtype


def relabel(value: Any, dtype: np.dtype[Any]) -> Any:
    """The same bytes under another dtype of the same size, in arrays and lists of arrays."""
    if isinstance(value, (list, tuple)):
        return [relabel(item, dtype) for item in value]
    if isinstance(value, np.ndarray) and value.dtype is not dtype and value.dtype.itemsize == dtype.itemsize:
        return value.view(dtype)
    return value


class Port:
    """Converts the values of one input or output between hone's dtypes and the onnx package's, where they differ."""

    def __init__(self, node: _native.NodeArg) -> None:
        self.name = node.name
        name = element_name(node.type)
        self._hone = _native.numpy_dtype(name if name else "string")
        self._package = package_dtype(name) if name and self._hone.kind != "O" else self._hone
        self._differs = self._hone != self._package

    def to_hone(self, value: Any) -> Any:
        """A value of the package's as hone takes it."""
        if self._differs and isinstance(value, np.ndarray) and value.dtype == self._package:
            return relabel(value, self._hone)
        return value

    def to_package(self, value: Any) -> Any:
        """A value of hone's as the package makes them."""
        return relabel(value, self._package) if self._differs else value


class HoneBackendRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs = [Port(node) for node in session.get_inputs()]
        self._outputs = [Port(node) for node in session.get_outputs()]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model on its inputs: one after the other, by name, or, if there is only one, as itself."""
        if isinstance(inputs, Mapping):
            ports = {port.name: port for port in self._inputs}
            feeds = {name: ports[name].to_hone(value) if name in ports else value for name, value in inputs.items()}
        else:
            if not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            if len(inputs) > len(self._inputs):
                raise ValueError(f"{len(inputs)} inputs given, the model has {len(self._inputs)}")
            feeds = {port.name: port.to_hone(value) for port, value in zip(self._inputs, inputs)}
        outputs = self._session.run(None, feeds)
        return tuple(port.to_package(value) for port, value in zip(self._outputs, outputs))


class HoneBackend(Backend):
    """hone as a backend of the onnx package."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether to try the model: always, what it lacks is found when it is prepared."""
        return True

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on such a device."""
        return device.split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model: onnx.ModelProto | bytes, device: str = "CPU", **kwargs: Any) -> HoneBackendRep:
        """Loads a model."""
        if not cls.supports_device(device):
            raise ValueError(f"there is no device '{device}', only: CPU")
        content = model if isinstance(model, bytes) else model.SerializeToString()
        return HoneBackendRep(InferenceSession(content))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Loads a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one operator. `opset_version` chooses its version; without it the newest of the package is meant."""
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        declared = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays)
        ]
        results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        if outputs_info is not None:
            results = [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
                for name, (dtype, shape) in zip(node.output, outputs_info)
            ]
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        graph = helper.make_graph([node], "node", declared, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, version)])
        if outputs_info is None:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.run_model(model, arrays, device, **kwargs)


is_compatible = HoneBackend.is_compatible
prepare = HoneBackend.prepare
run_model = HoneBackend.run_model
run_node = HoneBackend.run_node
supports_device = HoneBackend.supports_device
