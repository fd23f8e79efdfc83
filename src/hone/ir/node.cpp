#include "hone/ir/node.h"

#include "hone/ir/expr.h"
#include "hone/ir/stmt.h"

namespace hone::ir {

std::string_view to_string(Kind kind) {
  switch (kind) {
#define HONE_NAME(name) \
  case Kind::name:      \
    return #name;
    HONE_EXPR_KINDS(HONE_NAME)
    HONE_STMT_KINDS(HONE_NAME)
#undef HONE_NAME
  }
  return "unknown";
}

void destroy(BoxHeader* box) {
  switch (box->kind) {
#define HONE_DELETE(name)                \
  case Kind::name:                       \
    delete static_cast<Box<name>*>(box); \
    return;
    HONE_EXPR_KINDS(HONE_DELETE)
    HONE_STMT_KINDS(HONE_DELETE)
#undef HONE_DELETE
  }
}

}  // namespace hone::ir
