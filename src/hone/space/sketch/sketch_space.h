/// The space of sketches (after Ansor, arXiv 2006.06762): structures of programs that rules derive from the naive one,
/// and every number in them a knob.
#pragma once

#include <memory>

#include "hone/space/sketch/rules.h"

namespace hone::space {

/// Adds a rule to those that sketch spaces made from now on try before the built-in ones, the latest first; an added
/// one of the same name is replaced. What it gives runs on several threads at once. Thread-safe.
void add_rule(Rule rule);
/// Removes all that add_rule added.
void clear_rules();

/// The sketches of a task: for each of its algorithms those that the rules derive, with tiles that fit the registers
/// ("hardware") and with tiles that divide the extents ("divisor"), or as published the latter alone. Where no rule
/// leads to a program that can be built, there is one sketch that leaves the naive program as it is, or for GPUs binds
/// its loops.
Result<std::unique_ptr<Space>> make_sketch_space(const Task& task, const codegen::Target& target,
                                                 const SketchOptions& options = {});

}  // namespace hone::space
