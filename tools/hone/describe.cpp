#include "describe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::command {
namespace {

constexpr std::int64_t kShown = 8;

std::string ellipsis(const Tensor& tensor) { return tensor.size() > kShown ? " …" : ""; }

/// The elements [begin, end) as numbers.
Result<std::vector<double>> numbers(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  const auto offset = static_cast<std::size_t>(begin) * runtime::bytes_of(tensor.type());
  return Tensor::view(tensor.type(), {end - begin}, const_cast<std::byte*>(tensor.data()) + offset, nullptr)
      .to_doubles();
}

std::string scaled(double number, double step, const char* unit, std::span<const char* const> prefixes) {
  std::size_t prefix = 0;
  for (; number >= step && prefix + 1 < prefixes.size(); ++prefix) number /= step;
  if (prefix == 0) return fmt::format("{:.0f}{}{}", number, *unit ? " " : "", unit);
  return fmt::format("{:.3g} {}{}", number, prefixes[prefix], unit);
}

/// The length in characters: bytes that continue one do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

std::string summarize(const Tensor& tensor) {
  if (tensor.size() == 0) return "";
  const std::int64_t shown = std::min(kShown, tensor.size());
  if (tensor.type() == ElementType::String) {
    const auto first = tensor.strings().first(static_cast<std::size_t>(shown));
    return fmt::format("'{}'{}", fmt::join(first, "' '"), ellipsis(tensor));
  }
  double low = INFINITY, high = -INFINITY, sum = 0;
  std::int64_t strange = 0;
  std::string first;
  constexpr std::int64_t kPart = 1 << 16;
  for (std::int64_t begin = 0; begin < tensor.size(); begin += kPart) {
    const Result<std::vector<double>> part = numbers(tensor, begin, std::min(begin + kPart, tensor.size()));
    if (!part) return "";  // complex numbers have no order
    for (const double number : *part) {
      if (std::isnan(number)) {
        ++strange;
        continue;
      }
      low = std::min(low, number);
      high = std::max(high, number);
      sum += number;
    }
    if (begin == 0)
      for (std::int64_t i = 0; i < shown; ++i) first += fmt::format(" {:.6g}", (*part)[static_cast<std::size_t>(i)]);
  }
  const std::int64_t usual = tensor.size() - strange;
  std::string text =
      usual > 0 ? fmt::format("min {:.6g} max {:.6g} mean {:.6g}", low, high, sum / static_cast<double>(usual)) : "";
  if (strange > 0) text += fmt::format("{}{} nan", text.empty() ? "" : " ", strange);
  return text + ":" + first + ellipsis(tensor);
}

std::string bytes_text(double bytes) {
  static constexpr const char* prefixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
  return scaled(bytes, 1024, "B", prefixes);
}

std::string count_text(double count) {
  static constexpr const char* prefixes[] = {"", "K", "M", "G", "T", "P"};
  return scaled(count, 1000, "", prefixes);
}

std::string ms_text(double ms) { return fmt::format("{:.4g}", ms); }

std::string us_text(double ns) { return std::isfinite(ns) ? ms_text(ns * 1e-3) : "?"; }

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes)
    texts.push_back(shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")));
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows_) {
    if (row.empty()) continue;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i + 1 < widths.size()) text.append(widths[i] - width_of(row[i]), ' ');
      text += row[i];
      if (i + 1 < row.size()) text += "  ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace hone::command
