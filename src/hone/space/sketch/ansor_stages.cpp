#include "hone/space/sketch/ansor_stages.h"

#include <algorithm>

#include "hone/ir/rewrite.h"
#include "hone/ir/simplify.h"
#include "hone/schedule/visited.h"

namespace hone::space::ansor {
namespace {

/// A stage with what it reads, as places among all stages.
struct Node {
  Stage stage;
  std::vector<std::size_t> reads;
  std::size_t met = 0;  ///< when the walk from the results came by
  bool is_met = false, is_placed = false;
};

/// Inputs and blocks, those of the parameters first, in their order.
std::vector<Node> nodes_of(const schedule::Program& naive) {
  std::vector<Node> nodes;
  const std::vector<schedule::Path> blocks = schedule::blocks(naive);
  for (const ir::Expr& param : naive.params)
    if (schedule::writers(naive, param).empty()) nodes.push_back({{"", ir::name_of(param)}, {}});
  for (const schedule::Path& path : blocks)
    nodes.push_back({{path.block().name, ir::name_of(schedule::written_buffers(path.block()).front())}, {}});
  const auto maker_of = [&](const std::string& buffer) {
    return std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.stage.buffer == buffer; });
  };
  for (const schedule::Path& path : blocks) {
    Node& node = *std::find_if(nodes.begin(), nodes.end(),
                               [&](const Node& one) { return one.stage.block == path.block().name; });
    const std::vector<ir::Expr> written = schedule::written_buffers(path.block());
    for (const ir::Expr& buffer : schedule::read_buffers(path.block())) {
      if (schedule::contains(written, buffer)) continue;
      const auto maker = maker_of(ir::name_of(buffer));
      const auto place = static_cast<std::size_t>(maker - nodes.begin());
      if (maker != nodes.end() && std::find(node.reads.begin(), node.reads.end(), place) == node.reads.end())
        node.reads.push_back(place);
    }
  }
  return nodes;
}

/// Says of each node when a walk that goes from results to what they read, the last first, meets it.
void walk_from_results(const schedule::Program& naive, std::vector<Node>& nodes) {
  std::vector<std::size_t> stack;
  for (const ir::Expr& param : naive.params)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].stage.buffer == ir::name_of(param)) stack.push_back(i);
  for (std::size_t count = 0; !stack.empty();) {
    Node& node = nodes[stack.back()];
    stack.pop_back();
    if (node.is_met) continue;
    node.is_met = true;
    node.met = count++;
    stack.insert(stack.end(), node.reads.begin(), node.reads.end());
  }
}

}  // namespace

std::vector<Stage> stages_of(const schedule::Program& naive) {
  std::vector<Node> nodes = nodes_of(naive);
  walk_from_results(naive, nodes);
  std::vector<Stage> stages;
  for (;;) {
    Node* next = nullptr;  // of those that all they read stands before, the one that was met last
    for (Node& node : nodes) {
      const bool is_ready =
          node.is_met && !node.is_placed &&
          std::all_of(node.reads.begin(), node.reads.end(), [&](std::size_t place) { return nodes[place].is_placed; });
      if (is_ready && (!next || node.met > next->met)) next = &node;
    }
    if (!next) return stages;
    next->is_placed = true;
    stages.push_back(next->stage);
  }
}

std::string written_by(const schedule::Program& program, const std::string& block) {
  const Result<schedule::Path> path = schedule::find_block(program, block, "ansor");
  return path ? ir::name_of(schedule::written_buffers(path->block()).front()) : "";
}

Result<std::string> apply_making_block(schedule::Schedule& schedule, const schedule::Step& step) {
  std::vector<std::string> before;
  for (const schedule::Path& path : schedule::blocks(schedule.program())) before.push_back(path.block().name);
  HONE_TRY(schedule.apply(step));
  for (const schedule::Path& path : schedule::blocks(schedule.program()))
    if (std::find(before.begin(), before.end(), path.block().name) == before.end()) return path.block().name;
  return error(ErrorCode::IllegalStep, "{}: no block was made", schedule::name_of(step));
}

ir::Hash128 identity(const schedule::Program& program) {
  schedule::Program brief = program;
  brief.body = ir::simplify(ir::remove_trivial_loops(program.body));
  for (const schedule::Path& old : schedule::blocks(brief)) {
    if (!old.block().predicate) continue;
    const schedule::Path path = schedule::find_block(brief, old.block().name, "ansor").value();
    // by the loops that they use, outermost first
    std::vector<std::pair<std::vector<bool>, ir::Expr>> conditions;
    for (const ir::Expr& condition : schedule::conjuncts_of(path.block().predicate)) {
      std::vector<bool> uses;
      for (const ir::Stmt& s : path.loops()) uses.push_back(ir::uses(condition, s.get<ir::For>().var));
      conditions.emplace_back(std::move(uses), condition);
    }
    std::stable_sort(conditions.begin(), conditions.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    ir::Block block = path.block();
    block.predicate = conditions.front().second;
    for (std::size_t i = 1; i < conditions.size(); ++i)
      block.predicate = make(ir::And{block.predicate, conditions[i].second});
    brief = schedule::replace(brief, path, make(std::move(block)));
  }
  return ir::structural_hash(brief);
}

}  // namespace hone::space::ansor
