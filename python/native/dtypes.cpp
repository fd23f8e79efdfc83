#include "dtypes.h"

#include <array>

namespace hone::python {
namespace {

namespace nb = nanobind;
using nb::dlpack::dtype_code;
using runtime::ElementType;

enum class Package { Numpy, MlDtypes };

struct Entry {
  ElementType type;
  Package package;
  const char* name;
  dtype_code code;
  std::uint8_t bits;
};

constexpr Entry kEntries[] = {
    {ElementType::F32, Package::Numpy, "float32", dtype_code::Float, 32},
    {ElementType::U8, Package::Numpy, "uint8", dtype_code::UInt, 8},
    {ElementType::I8, Package::Numpy, "int8", dtype_code::Int, 8},
    {ElementType::U16, Package::Numpy, "uint16", dtype_code::UInt, 16},
    {ElementType::I16, Package::Numpy, "int16", dtype_code::Int, 16},
    {ElementType::I32, Package::Numpy, "int32", dtype_code::Int, 32},
    {ElementType::I64, Package::Numpy, "int64", dtype_code::Int, 64},
    {ElementType::Bool, Package::Numpy, "bool", dtype_code::Bool, 8},
    {ElementType::F16, Package::Numpy, "float16", dtype_code::Float, 16},
    {ElementType::F64, Package::Numpy, "float64", dtype_code::Float, 64},
    {ElementType::U32, Package::Numpy, "uint32", dtype_code::UInt, 32},
    {ElementType::U64, Package::Numpy, "uint64", dtype_code::UInt, 64},
    {ElementType::C64, Package::Numpy, "complex64", dtype_code::Complex, 64},
    {ElementType::C128, Package::Numpy, "complex128", dtype_code::Complex, 128},
    {ElementType::BF16, Package::MlDtypes, "bfloat16", dtype_code::Bfloat, 16},
    {ElementType::F8E4M3FN, Package::MlDtypes, "float8_e4m3fn", dtype_code::Float8_E4M3FN, 8},
    {ElementType::F8E4M3FNUZ, Package::MlDtypes, "float8_e4m3fnuz", dtype_code::Float8_E4M3FNUZ, 8},
    {ElementType::F8E5M2, Package::MlDtypes, "float8_e5m2", dtype_code::Float8_E5M2, 8},
    {ElementType::F8E5M2FNUZ, Package::MlDtypes, "float8_e5m2fnuz", dtype_code::Float8_E5M2FNUZ, 8},
    {ElementType::F8E8M0, Package::MlDtypes, "float8_e8m0fnu", dtype_code::Float8_E8M0FNU, 8},
    {ElementType::U4, Package::MlDtypes, "uint4", dtype_code::UInt, 4},
    {ElementType::I4, Package::MlDtypes, "int4", dtype_code::Int, 4},
    {ElementType::U2, Package::MlDtypes, "uint2", dtype_code::UInt, 2},
    {ElementType::I2, Package::MlDtypes, "int2", dtype_code::Int, 2},
    {ElementType::F4E2M1, Package::MlDtypes, "float4_e2m1fn", dtype_code::Float4_E2M1FN, 4},
    {ElementType::F6E2M3, Package::MlDtypes, "float6_e2m3fn", dtype_code::Float6_E2M3FN, 6},
    {ElementType::F6E3M2, Package::MlDtypes, "float6_e3m2fn", dtype_code::Float6_E3M2FN, 6},
};

constexpr std::size_t kTypeCount = 32;

/// numpy's dtypes in both directions. Lives until the process ends, as numpy does.
struct Dtypes {
  std::array<nb::object, kTypeCount> of_type;
  nb::dict types;  ///< dtype -> number of the element type

  Dtypes() {
    const nb::object numpy = nb::module_::import_("numpy");
    nb::object ml_dtypes;
    try {
      ml_dtypes = nb::module_::import_("ml_dtypes");
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_ImportError)) throw;
    }
    for (const Entry& entry : kEntries) {
      const bool is_own = entry.package == Package::MlDtypes;
      const bool is_known = !is_own || (ml_dtypes.is_valid() && nb::hasattr(ml_dtypes, entry.name));
      const char* plain = runtime::bytes_of(entry.type) == 1 ? "uint8" : "uint16";
      nb::object dtype = numpy.attr("dtype")(is_known && is_own ? nb::object(ml_dtypes.attr(entry.name))
                                                                : nb::object(nb::str(is_own ? plain : entry.name)));
      if (is_known) types[dtype] = static_cast<int>(entry.type);
      of_type[static_cast<std::size_t>(entry.type)] = std::move(dtype);
    }
    of_type[static_cast<std::size_t>(ElementType::String)] = numpy.attr("dtype")("O");
  }
};

const Dtypes& dtypes() {
  static const Dtypes* all = new Dtypes();
  return *all;
}

}  // namespace

std::optional<ElementType> element_type_of(nb::handle dtype) {
  PyObject* number = PyDict_GetItemWithError(dtypes().types.ptr(), dtype.ptr());
  if (!number) {
    if (PyErr_Occurred()) throw nb::python_error();
    return std::nullopt;
  }
  return static_cast<ElementType>(nb::cast<int>(nb::handle(number)));
}

nb::object dtype_of(ElementType type) { return dtypes().of_type[static_cast<std::size_t>(type)]; }

nb::dlpack::dtype plain_dtype_of(ElementType type) {
  for (const Entry& entry : kEntries)
    if (entry.type == type && entry.package == Package::Numpy)
      return {static_cast<std::uint8_t>(entry.code), entry.bits, 1};
  return {static_cast<std::uint8_t>(dtype_code::UInt), static_cast<std::uint8_t>(8 * runtime::bytes_of(type)), 1};
}

std::optional<ElementType> element_type_of(nb::dlpack::dtype dtype) {
  for (const Entry& entry : kEntries)
    if (static_cast<std::uint8_t>(entry.code) == dtype.code && entry.bits == dtype.bits && dtype.lanes == 1)
      return entry.bits < 8 ? std::nullopt : std::optional(entry.type);  // DLPack packs the narrow ones, we do not
  return std::nullopt;
}

}  // namespace hone::python
