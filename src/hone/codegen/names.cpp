#include "hone/codegen/names.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "hone/ir/rewrite.h"

namespace hone::codegen {

using namespace ir;

namespace {

class Renamer {
 public:
  explicit Renamer(const Function& function) {
    for (const Expr& param : function.params) define(param);
  }

  Stmt rename(const Stmt& s) {
    Scoped scope(*this);
    if (const For* loop = s.as<For>()) scope.enter(loop->var);
    if (const Let* let = s.as<Let>()) scope.enter(let->var);
    if (const Allocate* allocation = s.as<Allocate>()) scope.enter(allocation->buffer);
    if (const Block* block = s.as<Block>())
      for (const Iter& iter : block->iters) scope.enter(iter.var);
    const Stmt renamed =
        map_children(s, [&](const Stmt& child) { return rename(child); }, [&](const Expr& e) { return replace(e); });
    return with_own_block_name(renamed);
  }

 private:
  /// The replacements of the definitions of one statement; they end with it.
  struct Scoped {
    Renamer& renamer;
    std::size_t before;
    explicit Scoped(Renamer& r) : renamer(r), before(r.replaced_.size()) {}
    ~Scoped() { renamer.replaced_.resize(before); }
    void enter(const Expr& defined) {
      const Expr fresh = renamer.define(defined);
      if (!fresh.is(defined)) renamer.replaced_.emplace_back(defined, fresh);
    }
  };

  Expr replace(const Expr& e) { return replaced_.empty() ? e : substitute(e, replaced_); }

  /// The definition itself the first time, else a copy with a fresh name.
  Expr define(const Expr& defined) {
    const bool first_time = seen_.insert(defined.id()).second;
    if (first_time && names_.insert(name_of(defined)).second) return defined;
    const std::string name = fresh_name(name_of(defined));
    if (defined.as<Var>()) return make(Var{name}, defined.type());
    Buffer copy = defined.get<Buffer>();
    copy.name = name;
    return make(std::move(copy), defined.type());
  }

  Stmt with_own_block_name(const Stmt& s) {
    const Block* block = s.as<Block>();
    if (!block || blocks_.insert(block->name).second) return s;
    Block copy = *block;
    copy.name = fresh_name(copy.name);
    blocks_.insert(copy.name);
    return make(std::move(copy));
  }

  std::string fresh_name(const std::string& name) {
    std::string fresh;
    do { fresh = fmt::format("{}_{}", name, ++copies_[name]); } while (!names_.insert(fresh).second);
    return fresh;
  }

  Substitution replaced_;
  std::unordered_set<const void*> seen_;
  std::unordered_set<std::string> names_, blocks_;
  std::unordered_map<std::string, int> copies_;
};

}  // namespace

Function with_unique_names(const Function& function) {
  return {function.name, function.params, Renamer(function).rename(function.body)};
}

}  // namespace hone::codegen
