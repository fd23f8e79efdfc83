#include "hone/ir/stmt.h"

#include <algorithm>
#include <array>

namespace hone::ir {

namespace {

constexpr std::array<std::string_view, 11> kForKinds = {"serial",   "parallel", "vectorized", "unrolled",
                                                        "block_x",  "block_y",  "block_z",    "thread_x",
                                                        "thread_y", "thread_z", "vthread"};

template <typename Node>
Stmt box(Node node) {
  return Stmt(new Box<Node>(std::move(node), kVoid));
}

}  // namespace

std::string_view to_string(ForKind how) { return kForKinds[static_cast<std::size_t>(how)]; }

std::optional<ForKind> find_for_kind(std::string_view name) {
  const auto found = std::find(kForKinds.begin(), kForKinds.end(), name);
  if (found == kForKinds.end()) return std::nullopt;
  return static_cast<ForKind>(found - kForKinds.begin());
}

bool is_gpu_index(ForKind how) { return how >= ForKind::BlockX; }
bool is_thread_index(ForKind how) { return how >= ForKind::ThreadX; }

const std::string* find(const Annotations& annotations, std::string_view key) {
  for (const Annotation& a : annotations)
    if (a.key == key) return &a.value;
  return nullptr;
}

Annotations with(Annotations annotations, std::string_view key, std::string_view value) {
  const auto place = std::lower_bound(annotations.begin(), annotations.end(), key,
                                      [](const Annotation& a, std::string_view k) { return a.key < k; });
  if (place != annotations.end() && place->key == key) {
    place->value = value;
  } else {
    annotations.insert(place, Annotation{std::string(key), std::string(value)});
  }
  return annotations;
}

Stmt make(For node) { return box(std::move(node)); }
Stmt make(Block node) { return box(std::move(node)); }
Stmt make(Store node) { return box(std::move(node)); }
Stmt make(If node) { return box(std::move(node)); }
Stmt make(Seq node) { return box(std::move(node)); }
Stmt make(Allocate node) { return box(std::move(node)); }
Stmt make(Let node) { return box(std::move(node)); }
Stmt make(Evaluate node) { return box(std::move(node)); }
Stmt make(Barrier node) { return box(node); }

Stmt seq(std::vector<Stmt> stmts) {
  if (stmts.size() == 1) return std::move(stmts.front());
  std::vector<Stmt> flat;
  for (Stmt& s : stmts) {
    if (const Seq* inner = s.as<Seq>()) {
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    } else {
      flat.push_back(std::move(s));
    }
  }
  return flat.size() == 1 ? std::move(flat.front()) : make(Seq{std::move(flat)});
}

Stmt store(const Expr& buffer, std::vector<Expr> indices, const Expr& value) {
  return make(Store{.buffer = buffer, .indices = std::move(indices), .value = value});
}

}  // namespace hone::ir
