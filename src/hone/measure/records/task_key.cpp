#include "hone/measure/records/task_key.h"

#include <utility>

#include "hone/ir/equal.h"
#include "hone/ir/rewrite.h"
#include "hone/ir/text.h"

namespace hone::measure {
namespace {

/// The program with every size and every constant index set to 1.
class SizeEraser {
 public:
  ir::Function run(const ir::Function& function) {
    ir::Function erased{.name = function.name, .params = {}, .body = {}};
    for (const ir::Expr& param : function.params) erased.params.push_back(buffer(param));
    erased.body = ir::transform(
        function.body, [](const ir::Stmt& s) { return s; }, [this](const ir::Expr& e) { return expr(e); });
    return erased;
  }

 private:
  ir::Expr expr(const ir::Expr& e) {
    if (e.as<ir::IntImm>() && e.type() == ir::kIndex) return ir::imm(1);
    return e.as<ir::Buffer>() ? buffer(e) : e;
  }

  ir::Expr buffer(const ir::Expr& e) {
    for (const auto& [known, erased] : buffers_)
      if (known.is(e)) return erased;
    const ir::Buffer& node = e.get<ir::Buffer>();
    buffers_.emplace_back(
        e, ir::buffer(node.name, e.type(), std::vector<ir::Expr>(node.shape.size(), ir::imm(1)), node.scope));
    return buffers_.back().second;
  }

  std::vector<std::pair<ir::Expr, ir::Expr>> buffers_;
};

std::string with_constants(const ir::Hash128& hash, std::span<const std::size_t> constants) {
  std::string text = ir::to_string(hash);
  for (const std::size_t place : constants) text += "-" + std::to_string(place);
  return text;
}

}  // namespace

TaskKey task_key(const ir::Function& naive, std::span<const std::size_t> constants) {
  TaskKey task{.key = with_constants(ir::structural_hash(naive), constants),
               .family = with_constants(ir::structural_hash(SizeEraser().run(naive)), constants),
               .text = ir::to_text(naive),
               .shapes = {},
               .constants = {constants.begin(), constants.end()}};
  for (const ir::Expr& param : naive.params) {
    std::vector<std::int64_t>& shape = task.shapes.emplace_back();
    for (const ir::Expr& extent : param.get<ir::Buffer>().shape) shape.push_back(ir::as_int(extent).value_or(-1));
  }
  return task;
}

}  // namespace hone::measure
