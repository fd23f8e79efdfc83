/// Writes HTML and SVG: every element is closed, and text never becomes markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::command {

/// Text as it stands in HTML, in attributes too.
std::string escape_html(std::string_view text);

/// Attributes of an element: names, and values that are escaped when they are written.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

/// A document on its way.
class HtmlWriter {
 public:
  /// Closes an element at the end of its life.
  class Element {
   public:
    explicit Element(HtmlWriter& writer) : writer_(writer) {}
    ~Element() { writer_.close(); }
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;

   private:
    HtmlWriter& writer_;
  };

  /// Begins an element, which lasts as long as what is returned.
  [[nodiscard]] Element open(std::string_view tag, Attributes attributes = {});
  /// An element that holds nothing but a text.
  void leaf(std::string_view tag, Attributes attributes = {}, std::string_view text = "");
  void leaf(std::string_view tag, std::string_view text) { leaf(tag, {}, text); }
  /// An element that has no end, such as meta and input.
  void single(std::string_view tag, Attributes attributes = {});
  void text(std::string_view text) { out_ += escape_html(text); }
  /// Markup of our own: styles and scripts.
  void raw(std::string_view markup) { out_ += markup; }

  const std::string& document() const { return out_; }

 private:
  void begin(std::string_view tag, Attributes attributes);
  void close();

  std::string out_;
  std::vector<std::string> tags_;
};

}  // namespace hone::command
