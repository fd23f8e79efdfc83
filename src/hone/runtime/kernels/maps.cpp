#include "hone/runtime/kernels/maps.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/move.h"
#include "hone/runtime/kernels/scores.h"

namespace hone::runtime {
namespace {

Result<const Map*> map_of(const Value& value) {
  if (!value.map()) return error(ErrorCode::InvalidArgument, "a map is expected, found {}", value.describe());
  for (const Value& held : value.map()->values)
    if (!held.tensor() || held.tensor()->size() != 1)
      return error(ErrorCode::InvalidArgument, "the values of the map must be single elements, found {}",
                   held.describe());
  return value.map();
}

/// Writes one element, converted between numbers and strings as necessary.
Result<void> write_converted(const Tensor& from, Tensor& to, std::size_t place) {
  if (from.type() == to.type()) return copy_run(from, 0, to, static_cast<std::int64_t>(place), 1), Result<void>();
  double number = 0;
  if (from.type() == ElementType::String) {
    const std::string& text = from.strings()[0];
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size())
      return error(ErrorCode::InvalidArgument, "'{}' is not a number", text);
  } else {
    HONE_TRY(const std::vector<double> numbers, from.to_doubles());
    number = numbers[0];
  }
  if (to.type() == ElementType::String) {
    to.strings()[place] = fmt::format("{}", static_cast<float>(number));
    return {};
  }
  return with_number_type(to.type(), [&](auto zero) -> Result<void> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      if (!(number > -9e18 && number < 9e18)) return error(ErrorCode::InvalidArgument, "{} is too large", number);
    to.as<T>()[place] = static_cast<T>(number);
    return {};
  });
}

}  // namespace

Result<void> cast_map(HostCall& call) {
  HONE_TRY(const Map* const map, map_of(call.inputs[0]));
  const auto* keys = std::get_if<std::vector<std::int64_t>>(&map->keys);
  if (!keys) return error(ErrorCode::InvalidArgument, "the keys of the map must be integers");
  const std::string cast = call.attributes.text("cast_to", "TO_FLOAT");
  const std::string form = call.attributes.text("map_form", "DENSE");
  const ElementType type = cast == "TO_FLOAT"    ? ElementType::F32
                           : cast == "TO_STRING" ? ElementType::String
                           : cast == "TO_INT64"  ? ElementType::I64
                                                 : ElementType::Undefined;
  if (type == ElementType::Undefined)
    return error(ErrorCode::InvalidArgument, "cast_to is '{}', allowed are TO_FLOAT, TO_STRING and TO_INT64", cast);
  if (form != "DENSE" && form != "SPARSE")
    return error(ErrorCode::InvalidArgument, "map_form is '{}', allowed are DENSE and SPARSE", form);
  const bool is_sparse = form == "SPARSE";
  const std::int64_t count = is_sparse ? call.attributes.integer("max_map", 1) : std::ssize(map->values);
  HONE_TRY(Tensor output, call.output(0, type, {1, count}));
  fill_zero(output);
  for (std::size_t i = 0; i < map->values.size(); ++i) {
    const std::int64_t place = is_sparse ? (*keys)[i] : static_cast<std::int64_t>(i);
    if (place < 0 || place >= count)
      return error(ErrorCode::InvalidArgument, "key {} is outside 0..{}", place, count - 1);
    HONE_TRY(write_converted(*map->values[i].tensor(), output, static_cast<std::size_t>(place)));
  }
  return {};
}

Result<void> dict_vectorizer(HostCall& call) {
  HONE_TRY(const Map* const map, map_of(call.inputs[0]));
  const auto words = call.attributes.texts("string_vocabulary");
  const auto numbers = call.attributes.integers("int64_vocabulary");
  if (words.empty() == numbers.empty())
    return error(ErrorCode::InvalidArgument, "one of string_vocabulary and int64_vocabulary must be given");
  const ElementType type = map->values.empty() ? ElementType::F32 : map->values[0].tensor()->type();
  const std::int64_t count = words.empty() ? std::ssize(numbers) : std::ssize(words);
  HONE_TRY(Tensor output, call.output(0, type, {1, count}));
  fill_zero(output);
  const auto place_all = [&](const auto& vocabulary) -> Result<void> {
    using Keys = std::remove_cvref_t<decltype(vocabulary)>;
    const auto* keys = std::get_if<Keys>(&map->keys);
    if (!keys) return error(ErrorCode::InvalidArgument, "the vocabulary and the keys of the map differ in type");
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto found = std::lower_bound(keys->begin(), keys->end(), vocabulary[i]);
      if (found == keys->end() || *found != vocabulary[i]) continue;
      const Tensor& value = *map->values[static_cast<std::size_t>(found - keys->begin())].tensor();
      HONE_TRY(write_converted(value, output, i));
    }
    return {};
  };
  return words.empty() ? place_all(numbers) : place_all(words);
}

Result<void> zip_map(HostCall& call) {
  HONE_TRY(const Tensor input, call.tensor(0));
  HONE_TRY(const Rows rows, rows_of(input));
  const ClassLabels labels = ClassLabels::read(call.attributes, "classlabels_int64s", "classlabels_strings");
  if (static_cast<std::int64_t>(labels.size()) != rows.width)
    return error(ErrorCode::InvalidArgument, "{} class labels for {} columns", labels.size(), rows.width);
  // maps are sorted by key
  std::vector<std::size_t> order(labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Sequence maps;
  std::visit(
      [&](const auto& names) {
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        std::remove_cvref_t<decltype(names)> keys;
        for (const std::size_t i : order) keys.push_back(names[i]);
        for (std::int64_t row = 0; row < rows.count; ++row) {
          Map map{keys, {}};
          for (const std::size_t i : order) map.values.emplace_back(Tensor::scalar(rows.row(row)[i]));
          maps.emplace_back(std::move(map));
        }
      },
      labels.names);
  call.outputs[0] = Value(std::move(maps));
  return {};
}

}  // namespace hone::runtime
