#include "hone/frontend/tensor_proto.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <onnx/onnx-ml.pb.h>

#include "hone/runtime/buffer.h"

namespace hone::frontend {
namespace {

using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;

constexpr ElementType kLastType = ElementType::F6E3M2;

static_assert(std::endian::native == std::endian::little, "raw data is little-endian");

/// The number of bytes that `count` elements take in a file. `count` is small enough not to overflow.
std::uint64_t stored_bytes(ElementType type, std::int64_t count) {
  return (static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(runtime::bits_of(type)) + 7) / 8;
}

/// Element `i` of a stream of elements below 8 bits, lowest bits first, as our tensors store it.
std::uint8_t unpacked(std::span<const std::byte> bytes, std::size_t i, ElementType type) {
  const auto bits = static_cast<std::size_t>(runtime::bits_of(type));
  const std::size_t at = i * bits / 8, shift = i * bits % 8;
  unsigned word = std::to_integer<unsigned>(bytes[at]);
  if (shift + bits > 8) word |= std::to_integer<unsigned>(bytes[at + 1]) << 8;
  return runtime::byte_of(type, word >> shift);
}

/// Elements as they are stored in raw and external data.
Result<Tensor> from_bytes(ElementType type, const Shape& shape, std::span<const std::byte> bytes) {
  HONE_TRY(Tensor tensor, Tensor::allocate(type, shape));
  if (tensor.size() == 0) return tensor;
  if (runtime::bits_of(type) >= 8) {
    std::memcpy(tensor.data(), bytes.data(), tensor.bytes());
  } else {
    const std::span<std::uint8_t> elements = tensor.as<std::uint8_t>();
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = unpacked(bytes, i, type);
  }
  if (type == ElementType::Bool)  // a bool that is neither 0 nor 1 would confuse whoever computes with it
    for (std::uint8_t& element : tensor.as<std::uint8_t>()) element = element != 0;
  return tensor;
}

Result<void> check_stored(ElementType type, const Shape& shape, std::uint64_t found, std::uint64_t needed,
                          std::string_view what) {
  if (found == needed) return {};
  return error(ErrorCode::InvalidArgument, "{} needs {} {}, found {}", runtime::describe(type, shape), needed, what,
               found);
}

/// Elements of a typed field, one each; a field shorter or longer than the shape is an error.
template <typename To, typename Field>
Result<Tensor> from_field(ElementType type, const Shape& shape, const Field& field, std::int64_t parts_per_element) {
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  HONE_TRY(check_stored(type, shape, static_cast<std::uint64_t>(field.size()),
                        static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(parts_per_element), "numbers"));
  HONE_TRY(Tensor tensor, Tensor::allocate(type, shape));
  auto* to = reinterpret_cast<To*>(tensor.data());
  for (const auto number : field)
    if (type == ElementType::Bool) {
      *to++ = number != 0;
    } else {
      *to++ = static_cast<To>(number);
    }
  return tensor;
}

/// Elements below 8 bits, several to each number of int32_data.
Result<Tensor> from_packed_field(ElementType type, const Shape& shape, const onnx::TensorProto& proto) {
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  const auto found = static_cast<std::uint64_t>(proto.int32_data_size());
  HONE_TRY(check_stored(type, shape, found, stored_bytes(type, count), "numbers"));
  std::vector<std::byte> bytes;
  for (const std::int32_t number : proto.int32_data()) bytes.push_back(static_cast<std::byte>(number));
  return from_bytes(type, shape, bytes);
}

Result<Tensor> from_strings(const Shape& shape, const onnx::TensorProto& proto) {
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  HONE_TRY(check_stored(ElementType::String, shape, static_cast<std::uint64_t>(proto.string_data_size()),
                        static_cast<std::uint64_t>(count), "strings"));
  return Tensor::of_strings(shape, {proto.string_data().begin(), proto.string_data().end()});
}

bool has_typed_field(const onnx::TensorProto& proto) {
  return proto.float_data_size() > 0 || proto.double_data_size() > 0 || proto.int32_data_size() > 0 ||
         proto.int64_data_size() > 0 || proto.uint64_data_size() > 0 || proto.string_data_size() > 0;
}

Result<Tensor> from_typed_field(ElementType type, const Shape& shape, const onnx::TensorProto& proto) {
  switch (type) {
    case ElementType::F32:
      return from_field<float>(type, shape, proto.float_data(), 1);
    case ElementType::C64:
      return from_field<float>(type, shape, proto.float_data(), 2);
    case ElementType::F64:
      return from_field<double>(type, shape, proto.double_data(), 1);
    case ElementType::C128:
      return from_field<double>(type, shape, proto.double_data(), 2);
    case ElementType::I64:
      return from_field<std::int64_t>(type, shape, proto.int64_data(), 1);
    case ElementType::U32:
      return from_field<std::uint32_t>(type, shape, proto.uint64_data(), 1);
    case ElementType::U64:
      return from_field<std::uint64_t>(type, shape, proto.uint64_data(), 1);
    case ElementType::I32:
      return from_field<std::int32_t>(type, shape, proto.int32_data(), 1);
    case ElementType::I16:
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16:
      return from_field<std::uint16_t>(type, shape, proto.int32_data(), 1);
    case ElementType::I8:
    case ElementType::U8:
    case ElementType::Bool:
    case ElementType::F8E4M3FN:
    case ElementType::F8E4M3FNUZ:
    case ElementType::F8E5M2:
    case ElementType::F8E5M2FNUZ:
    case ElementType::F8E8M0:
    case ElementType::F6E2M3:
    case ElementType::F6E3M2:
      return from_field<std::uint8_t>(type, shape, proto.int32_data(), 1);
    case ElementType::U4:
    case ElementType::I4:
    case ElementType::F4E2M1:
    case ElementType::U2:
    case ElementType::I2:
      return from_packed_field(type, shape, proto);
    case ElementType::String:
      return from_strings(shape, proto);
    case ElementType::Undefined:
      break;
  }
  return error(ErrorCode::InvalidArgument, "a tensor has no element type");
}

Result<std::uint64_t> external_number(const std::string& key, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size())
    return error(ErrorCode::InvalidArgument, "external data has {} '{}', which is no number of bytes", key, text);
  return number;
}

Result<Tensor> from_external(ElementType type, const Shape& shape, const onnx::TensorProto& proto,
                             ExternalFiles& files) {
  if (type == ElementType::String) return error(ErrorCode::InvalidArgument, "strings cannot be external data");
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") { HONE_TRY(offset, external_number(entry.key(), entry.value())); }
    if (entry.key() == "length") { HONE_TRY(length, external_number(entry.key(), entry.value())); }
  }
  if (location.empty()) return error(ErrorCode::InvalidArgument, "external data has no location");
  const std::uint64_t needed = stored_bytes(type, count);
  if (length) HONE_TRY(check_stored(type, shape, *length, needed, "bytes of external data"));
  HONE_TRY(const FilePart part, files.read(location, offset, needed));
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(part.bytes.data()) % runtime::kTensorAlignment == 0;
  if (count > 0 && is_aligned && runtime::bits_of(type) >= 8 && type != ElementType::Bool)
    return Tensor::view(type, shape, const_cast<std::byte*>(part.bytes.data()), part.owner);
  Result<Tensor> copy = from_bytes(type, shape, part.bytes);
  part.forget();  // the copy is enough
  return copy;
}

}  // namespace

Result<ElementType> decode_element_type(std::int32_t number) {
  if (number >= static_cast<int>(ElementType::F32) && number <= static_cast<int>(kLastType))
    return static_cast<ElementType>(number);
  if (number == 0) return error(ErrorCode::InvalidArgument, "a tensor has no element type");
  return error(ErrorCode::Unsupported, "element type {} is not supported, known are 1 to {}", number,
               static_cast<int>(kLastType));
}

Result<Tensor> TensorDecoder::decode(const onnx::TensorProto& proto) {
  HONE_TRY(const ElementType type, decode_element_type(proto.data_type()));
  const Shape shape(proto.dims().begin(), proto.dims().end());
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
  if (count > kMaxElements)
    return error(ErrorCode::InvalidArgument, "a tensor of shape [{}] has too many elements", fmt::join(shape, ", "));
  if (proto.has_segment()) return error(ErrorCode::Unsupported, "tensors in segments are not supported");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) return from_external(type, shape, proto, files_);
  const auto aside = aside_.contents.find(&proto);
  const bool is_aside = aside != aside_.contents.end();
  // some writers set raw data to no bytes, and fill a typed field
  if (!is_aside && (!proto.has_raw_data() || (proto.raw_data().empty() && has_typed_field(proto))))
    return from_typed_field(type, shape, proto);
  if (type == ElementType::String) return error(ErrorCode::InvalidArgument, "strings cannot be raw data");
  const std::span<const std::byte> content = is_aside ? aside->second : std::as_bytes(std::span(proto.raw_data()));
  HONE_TRY(check_stored(type, shape, content.size(), stored_bytes(type, count), "bytes"));
  if (!is_aside || !aside_.file || runtime::bits_of(type) < 8 || type == ElementType::Bool)
    return from_bytes(type, shape, content);
  const auto offset = static_cast<std::uint64_t>(content.data() - aside_.begin);
  HONE_TRY(backed_.emplace_back(), runtime::BackedBytes::copy(content, aside_.file, offset));
  return Tensor::view(type, shape, backed_.back()->data(), backed_.back());
}

Result<Tensor> TensorDecoder::decode(const onnx::SparseTensorProto& proto) {
  HONE_TRY(const Tensor values, decode(proto.values()));
  HONE_TRY(const Tensor indices, decode(proto.indices()));
  const Shape shape(proto.dims().begin(), proto.dims().end());
  HONE_TRY(const std::int64_t count, runtime::element_count(shape));
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (values.rank() != 1 || indices.type() != ElementType::I64 || indices.rank() < 1 || indices.rank() > 2 ||
      indices.extent(0) != values.extent(0) || (indices.rank() == 2 && indices.extent(1) != rank))
    return error(ErrorCode::InvalidArgument, "a sparse tensor of shape [{}] has values {} and indices {}",
                 fmt::join(shape, ", "), runtime::describe(values.type(), values.shape()),
                 runtime::describe(indices.type(), indices.shape()));
  const std::size_t bytes = runtime::bytes_of(values.type());
  const auto bytes_each = static_cast<std::int64_t>(values.type() == ElementType::String ? sizeof(std::string) : bytes);
  if (count > sparse_bytes_left_ / bytes_each)
    return error(ErrorCode::Unsupported, "a sparse tensor of shape [{}] takes more than the {} bytes allowed for all",
                 fmt::join(shape, ", "), kMaxSparseBytes);
  sparse_bytes_left_ -= count * bytes_each;
  HONE_TRY(Tensor dense, Tensor::allocate(values.type(), shape));
  if (dense.bytes() > 0) std::memset(dense.data(), 0, dense.bytes());
  const std::span<const std::int64_t> places = indices.as<std::int64_t>();
  for (std::int64_t i = 0; i < values.size(); ++i) {
    std::int64_t at = indices.rank() == 1 ? places[static_cast<std::size_t>(i)] : 0;
    bool is_inside = at >= 0 && at < count;
    for (std::int64_t axis = 0; indices.rank() == 2 && axis < rank && is_inside; ++axis) {
      const std::int64_t place = places[static_cast<std::size_t>(i * rank + axis)];
      const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
      is_inside = place >= 0 && place < extent;
      at = at * extent + place;
    }
    if (!is_inside)
      return error(ErrorCode::InvalidArgument, "a sparse tensor of shape [{}] has element {} outside of it",
                   fmt::join(shape, ", "), i);
    if (values.type() == ElementType::String)
      dense.strings()[static_cast<std::size_t>(at)] = values.strings()[static_cast<std::size_t>(i)];
    else
      std::memcpy(dense.data() + static_cast<std::size_t>(at) * bytes,
                  values.data() + static_cast<std::size_t>(i) * bytes, bytes);
  }
  return dense;
}

}  // namespace hone::frontend
