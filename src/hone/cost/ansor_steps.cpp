#include "hone/cost/ansor_steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace hone::cost {
namespace {

using Json = nlohmann::json;

// Ansor's numbers for annotations of loops.
constexpr double kAnsorUnroll = 1, kAnsorVectorize = 2, kAnsorParallel = 3;

constexpr std::array<std::string_view, 14> kAnsorTags = {"AN", "FU", "PR", "RE", "SP",  "FSP", "FFSP",
                                                         "SA", "CA", "CI", "CR", "CHR", "CHW", "RF"};

double ansor_index(ir::ForKind kind) {
  constexpr double kVThread = 4, kBlockX = 5, kThreadX = 6, kBlockY = 7, kThreadY = 8, kBlockZ = 9, kThreadZ = 10;
  switch (kind) {
    case ir::ForKind::BlockX:
      return kBlockX;
    case ir::ForKind::BlockY:
      return kBlockY;
    case ir::ForKind::BlockZ:
      return kBlockZ;
    case ir::ForKind::ThreadX:
      return kThreadX;
    case ir::ForKind::ThreadY:
      return kThreadY;
    case ir::ForKind::ThreadZ:
      return kThreadZ;
    case ir::ForKind::VThread:
      return kVThread;
    default:
      return 0;
  }
}

double ansor_scope(ir::Scope scope) {
  constexpr double kLocal = 1, kShared = 2, kGlobal = 3;
  return scope == ir::Scope::Shared ? kShared : scope == ir::Scope::Global ? kGlobal : kLocal;
}

/// A field of a record: a number, or a word that stands for one.
Result<double> field_number(std::string_view tag, const Json& field) {
  if (field.is_number()) return field.get<double>();
  if (!field.is_string())
    return error(ErrorCode::ParseError, "{} has a field that is no number: {}", tag, field.dump());
  const auto text = field.get<std::string>();
  constexpr std::string_view kUnroll = "auto_unroll_max_step$";
  if (text.starts_with(kUnroll)) {
    double limit = 0;
    const auto [end, status] = std::from_chars(text.data() + kUnroll.size(), text.data() + text.size(), limit);
    if (status == std::errc() && end == text.data() + text.size()) return limit;
  }
  if (text == "local") return ansor_scope(ir::Scope::Local);
  if (text == "shared") return ansor_scope(ir::Scope::Shared);
  if (text == "global") return ansor_scope(ir::Scope::Global);
  return error(ErrorCode::ParseError, "{} has '{}', allowed are {}N, local, shared and global", tag, text, kUnroll);
}

}  // namespace

std::vector<AnsorStep> AnsorWriter::write(const NaiveBlocks& naive, const schedule::Trace& trace) {
  walk_.begin(naive);
  naive_ = &naive;
  std::vector<AnsorStep> steps;
  for (const schedule::Step& step : trace) {
    add(step, steps);
    walk_.apply(step);
  }
  return steps;
}

std::size_t AnsorWriter::stage_of_buffer(std::string_view buffer) const {
  for (std::size_t i = 0; i < naive_->params.size(); ++i)
    if (naive_->params[i] == buffer) return i;
  return stage_of(walk_.find_block(buffer));  // blocks are mostly called as what they write
}

void AnsorWriter::add(const schedule::Step& step, std::vector<AnsorStep>& steps) const {
  using namespace schedule;
  const auto number = [](auto value) { return static_cast<double>(value); };
  const auto on_loop = [&](AnsorTag tag, std::string_view name, std::initializer_list<double> more) {
    const WalkedLoop* loop = walk_.find_loop(name);
    if (!loop) return;
    AnsorStep& made = steps.emplace_back(AnsorStep{tag, {}});
    made.numbers = {number(stage_of(loop->block)), number(walk_.place_of(*loop))};
    made.numbers.insert(made.numbers.end(), more);
  };
  const auto on_block = [&](AnsorTag tag, std::string_view block, std::initializer_list<double> more) {
    AnsorStep& made = steps.emplace_back(AnsorStep{tag, {number(stage_of(walk_.find_block(block)))}});
    made.numbers.insert(made.numbers.end(), more);
  };
  const auto compute_at = [&](std::string_view block, std::string_view name) {
    const WalkedLoop* loop = walk_.find_loop(name);
    if (!loop) return;
    on_block(AnsorTag::CA, block, {number(stage_of(loop->block)), number(walk_.place_of(*loop))});
  };

  if (const auto* split = std::get_if<Split>(&step)) {
    const WalkedLoop* loop = walk_.find_loop(split->loop);
    if (!loop) return;
    on_loop(AnsorTag::SP, split->loop, {number(loop->extent)});
    const std::vector<std::int64_t> factors = walk_.factors(*split);
    for (std::size_t i = 1; i < factors.size(); ++i) steps.back().numbers.push_back(number(factors[i]));
    steps.back().numbers.push_back(1);  // factors are those from the inside
  } else if (const auto* variable = std::get_if<SplitVariable>(&step)) {
    if (const WalkedLoop* loop = walk_.find_variable(variable->block, variable->variable))
      on_loop(AnsorTag::SP, loop->name, {number(loop->extent), number(walk_.number(variable->factor)), 1});
  } else if (const auto* fuse = std::get_if<Fuse>(&step)) {
    if (fuse->loops.empty() || !walk_.find_loop(fuse->loops[0])) return;
    on_loop(AnsorTag::FU, fuse->loops[0], {});
    for (std::size_t i = 1; i < fuse->loops.size(); ++i)
      if (const WalkedLoop* loop = walk_.find_loop(fuse->loops[i]))
        steps.back().numbers.push_back(number(walk_.place_of(*loop)));
  } else if (const auto* reorder = std::get_if<Reorder>(&step)) {
    const WalkedLoop* first = reorder->loops.empty() ? nullptr : walk_.find_loop(reorder->loops[0]);
    if (!first) return;
    // Ansor writes where each loop of the new order stood; loops that are not named stay.
    std::vector<double> places, named;
    for (std::size_t i = 0; i < walk_.blocks()[first->block].loops.size(); ++i) places.push_back(number(i));
    for (const std::string& name : reorder->loops)
      if (const WalkedLoop* loop = walk_.find_loop(name)) named.push_back(number(walk_.place_of(*loop)));
    std::size_t next = 0;
    for (double& place : places)
      if (next < named.size() && std::find(named.begin(), named.end(), place) != named.end()) place = named[next++];
    AnsorStep& made = steps.emplace_back(AnsorStep{AnsorTag::RE, {number(stage_of(first->block))}});
    made.numbers.insert(made.numbers.end(), places.begin(), places.end());
  } else if (const auto* parallel = std::get_if<Parallel>(&step)) {
    on_loop(AnsorTag::AN, parallel->loop, {kAnsorParallel});
  } else if (const auto* vectorize = std::get_if<Vectorize>(&step)) {
    on_loop(AnsorTag::AN, vectorize->loop, {kAnsorVectorize});
  } else if (const auto* unroll = std::get_if<Unroll>(&step)) {
    on_loop(AnsorTag::AN, unroll->loop, {kAnsorUnroll});
  } else if (const auto* bind = std::get_if<Bind>(&step)) {
    on_loop(AnsorTag::AN, bind->loop, {ansor_index(bind->index)});
  } else if (const auto* annotate = std::get_if<Annotate>(&step)) {
    double limit = 0;
    std::from_chars(annotate->value.data(), annotate->value.data() + annotate->value.size(), limit);
    if (annotate->key == "unroll") on_loop(AnsorTag::PR, annotate->target, {limit});
  } else if (const auto* at = std::get_if<ComputeAt>(&step)) {
    compute_at(at->block, at->loop);
  } else if (const auto* reverse = std::get_if<ReverseComputeAt>(&step)) {
    compute_at(reverse->block, reverse->loop);
  } else if (const auto* inlined = std::get_if<ComputeInline>(&step)) {
    on_block(AnsorTag::CI, inlined->block, {});
  } else if (const auto* into = std::get_if<ReverseComputeInline>(&step)) {
    on_block(AnsorTag::CI, into->block, {});
  } else if (const auto* read = std::get_if<CacheRead>(&step)) {
    steps.push_back({AnsorTag::CHR,
                     {number(stage_of_buffer(read->buffer)), ansor_scope(read->scope),
                      number(stage_of(walk_.find_block(read->block)))}});
  } else if (const auto* write = std::get_if<CacheWrite>(&step)) {
    on_block(AnsorTag::CHW, write->block, {ansor_scope(write->scope)});
  } else if (const auto* factored = std::get_if<Rfactor>(&step)) {
    on_loop(AnsorTag::RF, factored->loop, {0});
  } else if (const auto* align = std::get_if<StorageAlign>(&step)) {
    steps.push_back({AnsorTag::SA,
                     {number(stage_of_buffer(align->buffer)), number(walk_.number(align->axis)),
                      number(walk_.number(align->factor)), number(walk_.number(align->offset))}});
  }
}

Result<std::vector<AnsorStep>> parse_ansor_steps(std::string_view text) {
  const Json all = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!all.is_array()) return error(ErrorCode::ParseError, "steps are no list");
  std::vector<AnsorStep> steps;
  for (const Json& one : all) {
    if (!one.is_array() || one.empty() || !one[0].is_string())
      return error(ErrorCode::ParseError, "step {} is {}, expected a list that begins with a word", steps.size(),
                   one.dump());
    const auto tag = one[0].get<std::string>();
    const auto known = std::find(kAnsorTags.begin(), kAnsorTags.end(), tag);
    if (known == kAnsorTags.end())
      return error(ErrorCode::ParseError, "step {} is '{}', allowed are {}", steps.size(), tag,
                   fmt::join(kAnsorTags, ", "));
    AnsorStep step{static_cast<AnsorTag>(known - kAnsorTags.begin()), {}};
    for (std::size_t i = 1; i < one.size(); ++i) {
      if (!one[i].is_array()) {
        HONE_TRY(const double found, field_number(tag, one[i]));
        step.numbers.push_back(found);
        continue;
      }
      for (const Json& field : one[i]) {
        HONE_TRY(const double found, field_number(tag, field));
        step.numbers.push_back(found);
      }
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace hone::cost
