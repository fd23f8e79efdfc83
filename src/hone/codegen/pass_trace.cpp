#include "hone/codegen/pass_trace.h"

#include "hone/ir/text.h"
#include "hone/ir/verify.h"
#include "hone/support/log.h"

namespace hone::codegen {

using Clock = std::chrono::steady_clock;

PassTrace::PassTrace(std::string_view pipeline, const PassOptions& options)
    : pipeline_(pipeline), options_(options), began_(Clock::now()) {}

ir::Function PassTrace::operator()(std::string_view pass, ir::Function program) {
  const std::int64_t time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_).count();
  if (options_.verify) {
    const Result<void> verified = ir::verify(program);
    HONE_CHECK(verified.has_value(), "{}: {} broke the program: {}\n{}", pipeline_, pass, verified.error().message,
               ir::to_text(program));
  }
  log::info(pipeline_, "{}: {} took {} us", program.name, pass, time_ns / 1000);
  if (log::is_enabled(log::Level::Debug, pipeline_)) log::debug(pipeline_, "{}", ir::to_text(program));
  if (options_.after_pass) options_.after_pass(pass, program, time_ns);
  began_ = Clock::now();
  return program;
}

Result<ir::Function> PassTrace::operator()(std::string_view pass, Result<ir::Function> program) {
  if (!program) return program;
  return (*this)(pass, *std::move(program));
}

}  // namespace hone::codegen
