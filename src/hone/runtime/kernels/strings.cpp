#include "hone/runtime/kernels/strings.h"

#include <algorithm>
#include <limits>
#include <set>

#include "hone/runtime/kernels/elements.h"
#include "hone/runtime/kernels/letter_case.h"
#include "hone/runtime/kernels/move.h"
#include "hone/runtime/kernels/regex.h"
#include "hone/runtime/kernels/shape_rules.h"

namespace hone::runtime {
namespace {

Result<Tensor> string_input(const HostCall& call, std::size_t i) {
  HONE_TRY(Tensor tensor, call.tensor(i));
  if (tensor.type() != ElementType::String)
    return error(ErrorCode::InvalidArgument, "input {} must hold strings, found {}", i,
                 describe(tensor.type(), tensor.shape()));
  return tensor;
}

/// The place in a tensor of shape `from` that element `place` of the broadcast shape reads.
std::size_t source_place(const Shape& from, const Shape& shape, std::int64_t place) {
  std::int64_t source = 0, stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t at = place % shape[shape.size() - 1 - i];
    place /= shape[shape.size() - 1 - i];
    if (i >= from.size()) continue;
    const std::int64_t extent = from[from.size() - 1 - i];
    source += (extent == 1 ? 0 : at) * stride;
    stride *= extent;
  }
  return static_cast<std::size_t>(source);
}

/// White space as the C locale has it: strings are split between words.
constexpr std::string_view kSpaces = " \t\n\v\f\r";

std::vector<std::string> split_at_spaces(std::string_view text, std::int64_t most) {
  std::vector<std::string> pieces;
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  const auto skip_spaces = [&] { text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size())); };
  skip_spaces();
  while (!text.empty()) {
    if (static_cast<std::int64_t>(pieces.size()) >= most) {
      pieces.emplace_back(text);
      break;
    }
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    skip_spaces();
  }
  return pieces;
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, std::int64_t most) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (static_cast<std::int64_t>(pieces.size()) < most) {
    const std::size_t end = text.find(delimiter, begin);
    if (end == std::string_view::npos) break;
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  pieces.emplace_back(text.substr(begin));
  return pieces;
}

}  // namespace

Result<void> string_concat(HostCall& call) {
  HONE_TRY(const Tensor left, string_input(call, 0));
  HONE_TRY(const Tensor right, string_input(call, 1));
  HONE_TRY(const Shape shape, broadcast_rule(left.shape(), right.shape()));
  HONE_TRY(Tensor output, call.output(0, ElementType::String, shape));
  std::int64_t place = 0;
  for (std::string& joined : output.strings()) {
    joined = left.strings()[source_place(left.shape(), shape, place)] +
             right.strings()[source_place(right.shape(), shape, place)];
    ++place;
  }
  return {};
}

Result<void> string_split(HostCall& call) {
  HONE_TRY(const Tensor input, string_input(call, 0));
  const std::string delimiter = call.attributes.text("delimiter", "");
  std::int64_t most = call.attributes.integer("maxsplit", -1);
  if (most < 0) most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<std::string>> pieces;
  std::size_t longest = 0;
  for (const std::string& text : input.strings()) {
    pieces.push_back(delimiter.empty() ? split_at_spaces(text, most) : split_at(text, delimiter, most));
    longest = std::max(longest, pieces.back().size());
  }
  Shape shape = input.shape();
  shape.push_back(static_cast<std::int64_t>(longest));
  HONE_TRY(Tensor output, call.output(0, ElementType::String, shape));
  fill_zero(output);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    std::move(pieces[i].begin(), pieces[i].end(), output.strings().begin() + static_cast<std::ptrdiff_t>(i * longest));
  if (!call.wants(1)) return {};
  HONE_TRY(Tensor counts, call.output(1, ElementType::I64, input.shape()));
  for (std::size_t i = 0; i < pieces.size(); ++i)
    counts.as<std::int64_t>()[i] = static_cast<std::int64_t>(pieces[i].size());
  return {};
}

Result<void> string_normalizer(HostCall& call) {
  HONE_TRY(const Tensor input, string_input(call, 0));
  const bool is_matrix = input.rank() == 2 && input.extent(0) == 1;
  if (input.rank() != 1 && !is_matrix)
    return error(ErrorCode::InvalidArgument, "the input must be [count] or [1, count], found {}",
                 describe(input.type(), input.shape()));
  const std::string action = call.attributes.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return error(ErrorCode::InvalidArgument, "case_change_action is '{}', allowed are LOWER, UPPER and NONE", action);
  const bool is_case_sensitive = call.attributes.integer("is_case_sensitive", 0) != 0;
  const LetterCase rules(call.attributes.text("locale", "en_US"));
  const auto compared = [&](const std::string& word) { return is_case_sensitive ? word : rules.lower(word); };
  std::set<std::string> stop_words;
  for (const std::string& word : call.attributes.texts("stopwords")) stop_words.insert(compared(word));

  std::vector<std::string> kept;
  for (const std::string& word : input.strings()) {
    if (!stop_words.empty() && stop_words.contains(compared(word))) continue;
    kept.push_back(action == "LOWER" ? rules.lower(word) : action == "UPPER" ? rules.upper(word) : word);
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<std::int64_t>(kept.size());
  call.outputs[0] = Tensor::of_strings(is_matrix ? Shape{1, count} : Shape{count}, std::move(kept));
  return {};
}

Result<void> regex_full_match(HostCall& call) {
  HONE_TRY(const Tensor input, string_input(call, 0));
  HONE_TRY(const Regex regex, Regex::parse(call.attributes.text("pattern", "")));
  HONE_TRY(Tensor output, call.output(0, ElementType::Bool, input.shape()));
  const auto matches = output.as<std::uint8_t>();
  for (std::size_t i = 0; i < matches.size(); ++i) matches[i] = regex.matches(input.strings()[i]) ? 1 : 0;
  return {};
}

}  // namespace hone::runtime
