/// Words of the text form: tokens, and how names and strings are written.
#pragma once

#include <string>
#include <string_view>

namespace hone::ir {

/// Whether a name can be written as it is: letters, digits, '_', '.' and '@', not beginning with a digit, '.' or '@',
/// and no keyword.
bool is_plain_name(std::string_view name);

/// The name itself if it is plain, else the name between backticks.
std::string quote_name(std::string_view name);

/// The text between double quotes.
std::string quote_string(std::string_view text);

}  // namespace hone::ir
