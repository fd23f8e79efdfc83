#include "html.h"

namespace hone::command {

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // Control characters are no HTML, escaped or not.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
          escaped += c;
        else
          escaped += "\xEF\xBF\xBD";
    }
  }
  return escaped;
}

void HtmlWriter::begin(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += escape_html(value);
    out_ += '"';
  }
  out_ += '>';
}

HtmlWriter::Element HtmlWriter::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  tags_.emplace_back(tag);
  return Element(*this);
}

void HtmlWriter::close() {
  out_ += "</" + tags_.back() + ">\n";
  tags_.pop_back();
}

void HtmlWriter::leaf(std::string_view tag, Attributes attributes, std::string_view text) {
  begin(tag, attributes);
  out_ += escape_html(text);
  out_ += "</";
  out_ += tag;
  out_ += '>';
}

void HtmlWriter::single(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += '\n';
}

}  // namespace hone::command
