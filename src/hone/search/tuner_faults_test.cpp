// What candidates may do wrong, seen by the tuner. All candidates of our spaces are right, so a worker makes some of
// them misbehave, on their way from the tuner to where they are compiled and run.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "hone/ir/text.h"
#include "hone/measure/protocol.h"
#include "hone/measure/worker.h"
#include "hone/search/tuner.h"
#include "hone/support/subprocess.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::search {
namespace {

namespace fs = std::filesystem;
using measure::TrialStatus;
using ::testing::HasSubstr;

/// A statement that is put behind a kernel of matmul = a · b, what becomes of the trial, and what its message says.
struct Fault {
  const char* statement;
  TrialStatus status;
  const char* message;
};

constexpr Fault kFaults[] = {
    {"for far in 0..1000 { matmul[0, far * 1000000000 + 250000000000] = 1f32 }", TrialStatus::Crash, "the worker "},
    {"for x in 0..1000000000 { for y in 0..1000000000 { matmul[0, y % 4] = matmul[0, y % 4] * a[0, x % 4] + 1f32 } }",
     TrialStatus::Timeout, "running took more than 1500 ms"},
    {"matmul[0, 1] = (a[0, 0] - a[0, 0]) / (a[0, 0] - a[0, 0])", TrialStatus::NotANumber, "element 1 is nan"},
    {"matmul[1, 2] = 1000f32", TrialStatus::WrongAnswer, "element 50 is 1000"},
    {"no statement at all", TrialStatus::CompileError, "statement"},
    {"alloc T: f32[8000000000]\nfor x in 0..8000000000 { T[x] = a[0, x % 4] }\n"
     "for y in 0..4 { matmul[0, y] = matmul[0, y] + T[y * 8000000] }",
     TrialStatus::OutOfMemory, "memory"},
};

/// The faults that show on this build.
std::size_t fault_count() { return std::size(kFaults) - (kHasMemoryLimit ? 0 : 1); }

/// Counts, in a file, how many programs were made to misbehave: the workers that die of them do not remember.
std::size_t take_number(const fs::path& file) {
  std::ofstream(file, std::ios::app) << 'x';
  return fs::file_size(file) - 1;
}

/// Not a test: the worker, which is this program with this filter. Between the measurer and the real worker's code
/// stands a thread that changes programs: every second one that is measured alone, until all faults have had their
/// turn.
TEST(FaultyWorker, DISABLED_Main) {
  constexpr int kChannelFd = 3;
  Channel outside(FileDescriptor(::dup(kChannelFd)));
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
  ASSERT_EQ(::dup2(sockets[1], kChannelFd), kChannelFd);
  ::close(sockets[1]);
  std::thread([&outside, inside = Channel(FileDescriptor(sockets[0]))]() mutable {
    const auto forever = Deadline::max();
    std::string bytes;
    while (inside.receive(bytes, forever) == Transfer::Done && outside.send(bytes, forever) == Transfer::Done &&
           outside.receive(bytes, forever) == Transfer::Done) {
      measure::Message message = measure::decode(bytes).value();
      if (message.kind == measure::MessageKind::Prepare && message.programs.size() == 1) {
        const std::size_t number = take_number(std::getenv("HONE_TEST_FAULTS"));
        std::string& text = message.programs[0].main;
        if (number % 2 == 1 && number / 2 < fault_count())
          text.insert(text.rfind('}'), kFaults[number / 2].statement + std::string("\n"));
      }
      if (inside.send(measure::encode(message), forever) != Transfer::Done) break;
    }
    std::_Exit(0);
  }).detach();
  std::_Exit(measure::run_worker());
}

class TunerFaults : public ::testing::Test {
 protected:
  TunerFaults() {
    fs::create_directories(folder_);
    const fs::path script = folder_ / "worker";
    std::ofstream(script) << "#!/bin/sh\nHONE_TEST_FAULTS='" << (folder_ / "count").string() << "' exec '"
                          << fs::canonical("/proc/self/exe").string()
                          << "' --gtest_filter=FaultyWorker.DISABLED_Main --gtest_also_run_disabled_tests\n";
    fs::permissions(script, fs::perms::owner_all);
    options_.measurer.target.threads = 1;
    options_.measurer.timing.min_repeat_ms = 0.05;
    options_.measurer.workers = 1;
    options_.measurer.run_timeout_ms = 1500;
    options_.measurer.memory_bytes = std::int64_t{1} << 30;
    options_.measurer.worker_program = script;
    options_.cost_model = "none";
    options_.search = "random";
  }
  ~TunerFaults() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::temp_directory_path() / ("hone-faults-" + std::to_string(getpid()));
  TunerOptions options_;
};

TEST_F(TunerFaults, EachCostsItsTrialIsRecordedWithItsReasonAndIsNeverAdopted) {
  const tensor::Tensor a = tensor::placeholder("a", {13, 17}), b = tensor::placeholder("b", {17, 48});
  auto product = std::make_shared<space::Task>();
  product->algorithms = {{"direct", tensor::lower("product", {a, b}, {*tensor::matmul(a, b)})}};
  product->flops = 2.0 * 13 * 17 * 48;
  ASSERT_THAT(ir::to_text(product->naive()), HasSubstr("matmul: f32[13, 48]) {")) << "which the faults speak of";

  measure::Records records = measure::Records::open((folder_ / "records.db").string()).value();
  options_.records = &records;
  const std::size_t trials = 2 * fault_count() + 2;
  options_.trials_per_task = static_cast<std::int64_t>(trials);
  const Result<TuneReport> report = tune({{product, "product", 1}}, options_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->progress.trials, static_cast<std::int64_t>(trials));
  EXPECT_EQ(report->progress.tasks[0].failures, static_cast<std::int64_t>(fault_count()));

  std::map<TrialStatus, std::vector<measure::Record>> found;
  const std::vector<measure::Record> all = records.find({}).value();
  for (const measure::Record& record : all) found[record.status].push_back(record);
  for (std::size_t i = 0; i < fault_count(); ++i) {
    const Fault& fault = kFaults[i];
    ASSERT_EQ(found[fault.status].size(), 1) << to_string(fault.status);
    const measure::Record& record = found[fault.status].front();
    EXPECT_THAT(record.message, HasSubstr(fault.message)) << to_string(fault.status);
    EXPECT_TRUE(record.samples_ns.empty());
    EXPECT_NE(record.candidate, report->progress.tasks[0].best);
  }
  const auto adopted = records.adopted(report->progress.tasks[0].key, codegen::to_string(options_.measurer.target));
  ASSERT_TRUE(adopted && *adopted);
  EXPECT_TRUE((*adopted)->is_checked);

  options_.measurer.worker_program.clear();  // a right one: still, what failed is not tried again
  const Result<TuneReport> again = tune({{product, "product", 1}}, options_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->progress.trials, 0);
  EXPECT_EQ(again->progress.tasks[0].failures, static_cast<std::int64_t>(fault_count()));
}

}  // namespace
}  // namespace hone::search
