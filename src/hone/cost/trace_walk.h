/// Walking along a trace without replaying it: which loops there are, and how long, follows from names and factors.
///
/// Loops that appear otherwise (those of blocks that moved or are copies) are known by the loop that their name begins
/// with, or not at all: sentences then say less about them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cost/naive_blocks.h"
#include "hone/schedule/step.h"

namespace hone::cost {

/// A loop on the way.
struct WalkedLoop {
  std::string name;
  std::size_t block = 0;            ///< whose loop it is, by place in TraceWalk::blocks
  const NaiveAxis* axis = nullptr;  ///< the naive loop that it is a part of, the first of several; null: not known
  std::int64_t extent = 1;
  int level = 0;  ///< how often it was split off
  bool is_reduction = false;
  double waste = 0;  ///< the share of iterations that its splits added
};

/// A block on the way, with the loops around it as far as they are its own.
struct WalkedBlock {
  std::string name;
  const NaiveBlock* naive = nullptr;  ///< null: a copy that a step made
  std::vector<std::size_t> loops;     ///< outermost first, by place in TraceWalk::loops
};

class TraceWalk {
 public:
  /// Begins with the naive program, which must outlive the walk.
  void begin(const NaiveBlocks& naive);
  /// Goes over one step.
  void apply(const schedule::Step& step);

  std::span<const WalkedLoop> loops() const { return loops_; }
  std::span<const WalkedBlock> blocks() const { return blocks_; }

  /// The loop of this name, or the one that it came from; null if neither is known.
  const WalkedLoop* find_loop(std::string_view name) const;
  /// The place of a block, or the number of blocks.
  std::size_t find_block(std::string_view name) const;
  /// The loop that moves a variable of a block; null if it is not known.
  const WalkedLoop* find_variable(std::string_view block, std::string_view variable) const;
  /// The place of a loop among those of its block.
  std::size_t place_of(const WalkedLoop& loop) const;

  /// A number of a step, from an earlier decision if it says so.
  std::int64_t number(const schedule::Number& number) const;
  /// The factors of a split with the rest filled in.
  std::vector<std::int64_t> factors(const schedule::Split& split) const;

 private:
  struct Decided {
    std::string name;
    std::vector<std::int64_t> values;
  };

  const WalkedLoop* find_exact(std::string_view name) const;
  /// Puts loops into the place of others that stand in one block.
  void replace(std::size_t block, std::span<const std::size_t> gone, std::vector<WalkedLoop> made);
  void split(const WalkedLoop& loop, std::span<const std::int64_t> factors);
  void fuse(const schedule::Names& names);
  void reorder(const schedule::Names& names);
  void add_block(std::string name, std::string_view before);

  std::vector<WalkedLoop> loops_;
  std::vector<WalkedBlock> blocks_;
  std::vector<Decided> decided_;
};

}  // namespace hone::cost
