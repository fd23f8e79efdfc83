#include "hone/runtime/kernels/labels.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"

namespace hone::runtime {
namespace {

/// An order of numbers in which NaN has a place.
struct NumberLess {
  bool operator()(double a, double b) const { return a < b || (std::isnan(b) && !std::isnan(a)); }
};

/// The places of keys in a list: of a key that stands there several times, the first.
struct Places {
  std::map<std::string, std::int64_t, std::less<>> strings;
  std::map<std::int64_t, std::int64_t> integers;
  std::map<double, std::int64_t, NumberLess> reals;

  /// Adds the elements of a tensor as keys, in order.
  Result<void> add(const Tensor& keys) {
    std::int64_t place = 0;
    return with_element_type(keys.type(), [&](auto zero) -> Result<void> {
      for (const auto& key : elements_of<decltype(zero)>(keys)) of_type(key).emplace(converted(key), place++);
      return {};
    });
  }

  /// The place of each element, or -1.
  Result<std::vector<std::int64_t>> find(const Tensor& input) const {
    std::vector<std::int64_t> places;
    HONE_TRY(with_element_type(input.type(), [&](auto zero) -> Result<void> {
      for (const auto& element : elements_of<decltype(zero)>(input)) {
        const auto& known = const_cast<Places*>(this)->of_type(element);
        const auto found = known.find(converted(element));
        places.push_back(found == known.end() ? -1 : found->second);
      }
      return {};
    }));
    return places;
  }

 private:
  template <typename T>
  auto& of_type(const T&) {
    if constexpr (std::is_same_v<T, std::string>)
      return strings;
    else if constexpr (std::is_integral_v<T>)
      return integers;
    else
      return reals;
  }
  template <typename T>
  static auto converted(const T& key) {
    if constexpr (std::is_same_v<T, std::string>)
      return key;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(key);
    else
      return static_cast<double>(key);
  }
};

/// The list that stands under the name with one of the four endings that ONNX has for it, as a tensor.
std::optional<Tensor> list_of(const Attributes& attributes, const std::string& name) {
  if (const Tensor* tensor = attributes.tensor(name + "_tensor")) return tensor->reshaped({tensor->size()});
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  if (attributes.has(name + "_strings")) {
    const auto list = attributes.texts(name + "_strings");
    return Tensor::of_strings({count(list)}, list);
  }
  if (attributes.has(name + "_int64s")) {
    const auto list = attributes.integers(name + "_int64s");
    return Tensor::of<std::int64_t>({count(list)}, list);
  }
  if (attributes.has(name + "_floats")) {
    const auto list = attributes.reals(name + "_floats");
    return Tensor::of<float>({count(list)}, list);
  }
  return std::nullopt;
}

/// What keys become: the element of `values` at their place, or `fallback`.
struct Encoding {
  Places keys;
  ElementType key_type = ElementType::Undefined;
  Tensor values, fallback;
};

Result<void> encode(HostCall& call, const Encoding& encoding, const Tensor& input) {
  HONE_TRY(const std::vector<std::int64_t> places, encoding.keys.find(input));
  HONE_TRY(Tensor output, call.output(0, encoding.values.type(), input.shape()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_known = places[i] >= 0;
    copy_run(is_known ? encoding.values : encoding.fallback, is_known ? places[i] : 0, output,
             static_cast<std::int64_t>(i), 1);
  }
  return {};
}

/// Before version 4 of the operator a NaN equals no key.
Result<Encoding> encoding_of(const Attributes& attributes, bool knows_nan) {
  Encoding encoding;
  const std::optional<Tensor> keys = list_of(attributes, "keys"), values = list_of(attributes, "values");
  if (!keys || !values) return error(ErrorCode::InvalidArgument, "keys and values must both be given");
  if (keys->size() != values->size())
    return error(ErrorCode::InvalidArgument, "{} keys for {} values", keys->size(), values->size());
  HONE_TRY(encoding.keys.add(*keys));
  if (!knows_nan) encoding.keys.reals.erase(std::numeric_limits<double>::quiet_NaN());
  encoding.key_type = keys->type();
  encoding.values = *values;
  const Tensor* fallback = attributes.tensor("default_tensor");
  if (fallback) {
    if (fallback->size() != 1 || fallback->type() != values->type())
      return error(ErrorCode::InvalidArgument, "default_tensor must be one {}, found {}", name_of(values->type()),
                   describe(fallback->type(), fallback->shape()));
    encoding.fallback = *fallback;
  } else if (values->type() == ElementType::String) {
    encoding.fallback = Tensor::of_strings({}, {attributes.text("default_string", "_Unused")});
  } else if (values->type() == ElementType::I64) {
    encoding.fallback = Tensor::scalar(attributes.integer("default_int64", -1));
  } else if (values->type() == ElementType::F32) {
    encoding.fallback = Tensor::scalar(attributes.real("default_float", -0.0F));
  } else {
    HONE_TRY(encoding.fallback, Tensor::allocate(values->type(), {}));
    fill_zero(encoding.fallback);
    if (values->type() == ElementType::F64) encoding.fallback.as<double>()[0] = -0.0;
    if (values->type() == ElementType::I32) encoding.fallback.as<std::int32_t>()[0] = -1;
    if (values->type() == ElementType::I16) encoding.fallback.as<std::int16_t>()[0] = -1;
  }
  return encoding;
}

Tensor numbers_up_to(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  return Tensor::of<std::int64_t>({count}, numbers);
}

/// Strings become the numbers beside them, or numbers the strings.
Result<void> map_either_way(HostCall& call, const Tensor& strings, const Tensor& numbers) {
  HONE_TRY(const Tensor input, call.tensor(0));
  const bool is_from_strings = input.type() == ElementType::String;
  if (!is_from_strings && input.type() != ElementType::I64)
    return error(ErrorCode::InvalidArgument, "the input must be string or int64, found {}", name_of(input.type()));
  if (strings.size() != numbers.size())
    return error(ErrorCode::InvalidArgument, "{} strings for {} numbers", strings.size(), numbers.size());
  Encoding encoding;
  HONE_TRY(encoding.keys.add(is_from_strings ? strings : numbers));
  encoding.values = is_from_strings ? numbers : strings;
  encoding.fallback = is_from_strings ? Tensor::scalar(call.attributes.integer("default_int64", -1))
                                      : Tensor::of_strings({}, {call.attributes.text("default_string", "_Unused")});
  return encode(call, encoding, input);
}

}  // namespace

Result<void> label_encoder(HostCall& call) {
  if (call.opset < 2) {
    const auto classes = call.attributes.texts("classes_strings");
    const auto count = static_cast<std::int64_t>(classes.size());
    return map_either_way(call, Tensor::of_strings({count}, classes), numbers_up_to(count));
  }
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const auto encoding,
           call.attributes.prepared<Encoding>([&] { return encoding_of(call.attributes, call.opset >= 4); }));
  if (input.type() != encoding->key_type)
    return error(ErrorCode::InvalidArgument, "the input holds {}, the keys are {}", name_of(input.type()),
                 name_of(encoding->key_type));
  return encode(call, *encoding, input);
}

Result<void> category_mapper(HostCall& call) {
  const auto strings = call.attributes.texts("cats_strings");
  const auto numbers = call.attributes.integers("cats_int64s");
  return map_either_way(call, Tensor::of_strings({static_cast<std::int64_t>(strings.size())}, strings),
                        Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

Result<void> one_hot_encoder(HostCall& call) {
  HONE_TRY(Tensor input, call.tensor(0));
  const std::optional<Tensor> categories = list_of(call.attributes, "cats");
  if (!categories || categories->size() == 0) return error(ErrorCode::InvalidArgument, "no categories are given");
  if (input.type() != ElementType::String) {
    HONE_TRY(const std::vector<double> numbers, input.to_doubles());
    HONE_TRY(Tensor whole, Tensor::allocate(ElementType::I64, input.shape()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool fits = std::fabs(numbers[i]) < 9e18;
      whole.as<std::int64_t>()[i] = fits ? static_cast<std::int64_t>(numbers[i]) : INT64_MIN;
    }
    input = whole;
  }
  if (input.type() != categories->type())
    return error(ErrorCode::InvalidArgument, "the input holds {}, the categories are {}", name_of(input.type()),
                 name_of(categories->type()));
  Places known;
  HONE_TRY(known.add(*categories));
  HONE_TRY(const std::vector<std::int64_t> places, known.find(input));
  Shape shape = input.shape();
  shape.push_back(categories->size());
  HONE_TRY(Tensor output, call.output(0, ElementType::F32, shape));
  fill_zero(output);
  const bool allows_unknown = call.attributes.integer("zeros", 1) != 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0)
      output.as<float>()[i * static_cast<std::size_t>(categories->size()) + static_cast<std::size_t>(places[i])] = 1;
    else if (!allows_unknown)
      return error(ErrorCode::InvalidArgument, "element {} is none of the {} categories", i, categories->size());
  }
  return {};
}

}  // namespace hone::runtime
