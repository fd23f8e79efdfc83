#include "view.h"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace hone::trainer {
namespace {

std::string minutes(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string top_text(const cost::EpochReport& report) {
  return report.scored == 0 ? "" : fmt::format(", top-1 {:.4f}, top-5 {:.4f}", report.top_1, report.top_5);
}

/// What an epoch came to on what was held back, if anything was.
std::string held_text(const cost::EpochReport& report) {
  if (!report.is_checked) return "";
  return fmt::format(", held back {:.5f}{}", report.validation_loss, top_text(report));
}

}  // namespace

void View::show(const BatchReport& report) {
  using Clock = std::chrono::steady_clock;
  static const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  constexpr std::chrono::milliseconds kPause(200);
  if (!is_terminal || (has_line_ && Clock::now() - drawn_ < kPause && report.batch < report.batches)) return;
  drawn_ = Clock::now();
  has_line_ = true;
  constexpr std::size_t kWidth = 20;
  const std::size_t done = report.batch * kWidth / report.batches;
  fmt::print(stderr, "\repoch {:>3} of {} [{}{}] loss {:.5f}{}, {} min left\033[K", report.epoch, options_.epochs,
             std::string(done, '='), std::string(kWidth - done, ' '), report.loss, last_epoch_, minutes(report.left_s));
  std::fflush(stderr);
}

void View::show(const cost::EpochReport& report, const cost::TrainingProgress& progress, bool is_best) {
  if (has_line_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  has_line_ = false;
  last_epoch_ = top_text(report);
  fmt::print("epoch {:>3} of {}: loss {:.5f}{}, {} min, {} left{}\n", report.epoch, options_.epochs, report.loss,
             held_text(report), minutes(progress.elapsed_s), minutes(progress.left_s(options_)), is_best ? " *" : "");
  std::fflush(stdout);
}

std::string best_text(const cost::EpochReport& best, const cost::TrainingOptions& options) {
  const char* unscored = "";
  if (best.scored == 0)
    unscored = options.label_share < 1 ? "; nothing was held back of a target all of whose labels may be seen"
                                       : "; nothing was held back";
  return fmt::format("epoch {}, loss {:.5f}{}{}", best.epoch, best.loss, held_text(best), unscored);
}

}  // namespace hone::trainer
