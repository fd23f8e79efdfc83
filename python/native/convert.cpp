#include "convert.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "dtypes.h"

namespace hone::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using runtime::Map;
using runtime::Sequence;

[[noreturn]] void refuse(const Port& port, const std::string& what) {
  raise(ErrorCode::InvalidArgument, fmt::format("input '{}' {}, expected {}", port.name, what, port.type_text));
}

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

std::string class_name(nb::handle object) { return text_of(nb::object(object.type().attr("__name__"))); }

nb::object numpy() { return nb::module_::import_("numpy"); }

/// A shared pointer that gives something of Python's back, whichever thread lets go of it last.
template <typename T, typename Release>
std::shared_ptr<const void> held(T* thing, Release release) {
  return {static_cast<const void*>(thing), [release](const void* pointer) {
            if (!Py_IsInitialized()) return;
            const nb::gil_scoped_acquire gil;
            T* owned = static_cast<T*>(const_cast<void*>(pointer));
            release(owned);
            delete owned;
          }};
}

std::string bytes_of_text(nb::handle item, const Port& port) {
  if (PyUnicode_Check(item.ptr())) {
    const auto encoded = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(item.ptr(), "utf-8", "surrogateescape"));
    if (!encoded.is_valid()) throw nb::python_error();
    return {encoded.c_str(), encoded.size()};
  }
  if (PyBytes_Check(item.ptr())) {
    const auto bytes = nb::borrow<nb::bytes>(item);
    return {bytes.c_str(), bytes.size()};
  }
  refuse(port, fmt::format("holds an element of type {}", class_name(item)));
}

Shape shape_of(nb::handle array) {
  Shape shape;
  for (const nb::handle extent : nb::object(array.attr("shape"))) shape.push_back(nb::cast<std::int64_t>(extent));
  return shape;
}

Value strings_of(nb::handle array, const Port& port) {
  const nb::object items = array.attr("ravel")().attr("tolist")();
  std::vector<std::string> strings;
  for (const nb::handle item : items) strings.push_back(bytes_of_text(item, port));
  return Tensor::of_strings(shape_of(array), std::move(strings));
}

/// The memory of a contiguous numpy array.
Tensor share_buffer(ElementType type, nb::handle array) {
  auto* view = new Py_buffer();
  if (PyObject_GetBuffer(array.ptr(), view, PyBUF_C_CONTIGUOUS) != 0) {
    delete view;
    throw nb::python_error();
  }
  std::shared_ptr<const void> owner = held(view, [](Py_buffer* buffer) { PyBuffer_Release(buffer); });
  return Tensor::view(type, Shape(view->shape, view->shape + view->ndim), view->buf, std::move(owner));
}

/// A copy with the bits above each element set as our tensors have them: ml_dtypes leaves them open.
Tensor settled(const Tensor& tensor) {
  Tensor copy = unwrap(Tensor::allocate(tensor.type(), tensor.shape()));
  const std::span<const std::uint8_t> from = tensor.as<std::uint8_t>();
  const std::span<std::uint8_t> to = copy.as<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = runtime::byte_of(tensor.type(), from[i]);
  return copy;
}

Value from_array(nb::object array, const Port& port) {
  nb::object dtype = array.attr("dtype");
  std::optional<ElementType> type = element_type_of(dtype);
  if (!type) {
    const auto kind = text_of(dtype.attr("kind"));
    if (kind == "O" || kind == "U" || kind == "S" || kind == "T") return strings_of(array, port);
    type = element_type_of(nb::object(dtype.attr("newbyteorder")("=")));
    if (!type) refuse(port, fmt::format("is an array of dtype {}", text_of(dtype)));
    array = array.attr("astype")(dtype_of(*type));
  }
  if (!nb::cast<bool>(array.attr("flags").attr("c_contiguous"))) array = array.attr("copy")("C");
  Tensor tensor = share_buffer(*type, array);
  return runtime::bits_of(*type) >= 8 ? tensor : settled(tensor);
}

Value from_dlpack(nb::handle object, const Port& port) {
  using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
  auto* array = new Array();
  std::shared_ptr<const void> owner = held(array, [](Array*) {});
  if (!nb::try_cast(object, *array))
    refuse(port, fmt::format("is a {} that cannot be read through DLPack from host memory", class_name(object)));
  const std::optional<ElementType> type = element_type_of(array->dtype());
  if (!type)
    refuse(port, fmt::format("is a {} of DLPack type {} with {} bits", class_name(object), array->dtype().code,
                             array->dtype().bits));
  Shape shape;
  for (std::size_t i = 0; i < array->ndim(); ++i) shape.push_back(static_cast<std::int64_t>(array->shape(i)));
  return Tensor::view(*type, std::move(shape), const_cast<void*>(array->data()), std::move(owner));
}

Value from_dict(const nb::dict& dict, const Port& port) {
  const nb::object items =
      nb::module_::import_("builtins")
          .attr("sorted")(dict.attr("items")(), "key"_a = nb::module_::import_("operator").attr("itemgetter")(0));
  Map map;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> names;
  for (const nb::handle item : items) {
    const nb::object key = item[0];
    if (PyUnicode_Check(key.ptr()) || PyBytes_Check(key.ptr())) {
      names.push_back(bytes_of_text(key, port));
    } else {
      numbers.push_back(nb::cast<std::int64_t>(nb::int_(key)));
    }
    map.values.push_back(to_value(nb::object(item[1]), port));
  }
  if (!names.empty() && !numbers.empty()) refuse(port, "is a dict with keys of two types");
  if (!names.empty()) {
    map.keys = std::move(names);
  } else {
    map.keys = std::move(numbers);
  }
  return map;
}

/// A numpy array on the tensor's memory.
nb::object array_of(const Tensor& tensor) {
  static std::byte nothing[16];
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  auto* kept = new Tensor(tensor);
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<Tensor*>(pointer); });
  void* data = kept->data() ? static_cast<void*>(kept->data()) : nothing;
  const nb::dlpack::dtype plain = plain_dtype_of(tensor.type());
  nb::object array =
      nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, plain, nb::device::cpu::value).cast();
  const nb::object dtype = dtype_of(tensor.type());
  return nb::object(array.attr("dtype")).equal(dtype) ? array : nb::object(array.attr("view")(dtype));
}

nb::object text_of(const std::string& bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (!text) throw nb::python_error();
  return nb::steal(text);
}

nb::object array_of_strings(const Tensor& tensor) {
  nb::list items;
  for (const std::string& item : tensor.strings()) items.append(text_of(item));
  nb::list shape;
  for (const std::int64_t extent : tensor.shape()) shape.append(extent);
  return numpy().attr("array")(items, dtype_of(ElementType::String)).attr("reshape")(nb::tuple(shape));
}

nb::object dict_of(const Map& map) {
  nb::dict dict;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const nb::object key = std::visit(
        [&](const auto& keys) -> nb::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(keys)>, std::vector<std::string>>) {
            return text_of(keys[i]);
          } else {
            return nb::int_(keys[i]);
          }
        },
        map.keys);
    const Tensor* scalar = map.values[i].tensor();
    const nb::object value = to_python(map.values[i]);
    dict[key] = scalar && scalar->rank() == 0 ? nb::object(value.attr("item")()) : value;
  }
  return dict;
}

}  // namespace

Value to_value(nb::handle object, const Port& port) {
  if (object.is_none()) return {};
  const nb::object ndarray = numpy().attr("ndarray");
  if (nb::isinstance(object, ndarray)) return from_array(nb::borrow(object), port);
  if (nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array_interface__"))
    return from_dlpack(object, port);
  if (PyDict_Check(object.ptr())) return from_dict(nb::borrow<nb::dict>(object), port);
  if (port.type == ElementType::Undefined && (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()))) {
    Sequence sequence;
    for (const nb::handle item : nb::borrow(object)) sequence.push_back(to_value(item, port));
    return sequence;
  }
  // A number, a string, a list of them, or an object that knows how to become an array.
  const bool is_known = port.type != ElementType::Undefined && !nb::hasattr(object, "__array__");
  try {
    return from_array(numpy().attr("asarray")(object, is_known ? dtype_of(port.type) : nb::object(nb::none())), port);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    refuse(port, fmt::format("is a {} that makes no array ({})", class_name(object), text_of(error.value())));
  }
}

nb::object to_python(const Value& value) {
  if (const Tensor* tensor = value.tensor())
    return tensor->type() == ElementType::String ? array_of_strings(*tensor) : array_of(*tensor);
  if (const Sequence* sequence = value.sequence()) {
    nb::list list;
    for (const Value& item : *sequence) list.append(to_python(item));
    return list;
  }
  if (const Map* map = value.map()) return dict_of(*map);
  return nb::none();
}

}  // namespace hone::python
