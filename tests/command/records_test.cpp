// hone records: what it shows, what it refuses, and that it destroys nothing; and what models do with damaged records.
#include "hone/measure/records/records.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.h"

namespace hone::command {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Records of a small kernel, in r.db.
class RecordsCommand : public CommandTest {
 protected:
  void tune() const {
    write_dense();
    const Outcome outcome =
        hone("tune dense.onnx --dim batch=5 --threads 1 --records r.db --trials 3 --search random --cost-model none");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
  }
  measure::Records records() const { return measure::Records::open(path("r.db").string()).value(); }
  std::int64_t count() const { return records().count().value(); }
  std::vector<measure::Record> all() const { return records().find({}).value(); }
};

TEST_F(RecordsCommand, TakeTheFileFromOneOptionOnly) {
  tune();
  ASSERT_EQ(shell("cp r.db other.db").status, 0);
  const std::int64_t before = count();
  for (const std::string action : {"ls", "prune --keep 0"})
    for (const std::string records : {"HONE_RECORDS=r.db '" HONE_COMMAND "' records ", "'" HONE_COMMAND "' records "})
      expect_refusal(shell(records + action + " other.db"),
                     {"'other.db'", action.substr(0, 2), "takes none", "--records"});
  EXPECT_EQ(count(), before);
  expect_refusal(hone("records ls --records none"), {"--records is 'none'"});
  EXPECT_FALSE(fs::exists(path("none")));
}

TEST_F(RecordsCommand, AreNotOverwrittenByTheirExport) {
  tune();
  const std::int64_t before = count();
  fs::create_symlink("r.db", path("link.db"));
  fs::create_hard_link(path("r.db"), path("hard.db"));
  fs::create_directory_symlink(".", path("here"));
  for (const std::string to : {"r.db", "./r.db", "link.db", "hard.db", "here/r.db", "r.db-wal", "r.db-shm"}) {
    expect_refusal(hone("records export " + to + " --records r.db"), {"'" + to + "'", "file of records itself"});
    expect_refusal(hone("records export " + to + " --records link.db"), {"'" + to + "'", "file of records itself"});
  }
  EXPECT_EQ(count(), before);
}

TEST_F(RecordsCommand, AreExportedWholeOrNotAtAll) {
  tune();
  write("old.json", "what was there before\n");
  fs::create_symlink("old.json", path("link.json"));
  write("broken.db", "this is no database, but long enough to be taken for one: " + std::string(200, 'x'));
  expect_refusal(hone("records export old.json --records broken.db"), {"broken.db"});
  const Outcome full =
      shell("{ (ulimit -f 0; '" HONE_COMMAND "' records export old.json --records r.db); echo status $?; } 2>&1 | cat");
  EXPECT_THAT(full.output, AllOf(HasSubstr("hone: cannot write 'old.json'"), HasSubstr("status 2")));
  EXPECT_EQ(read("old.json"), "what was there before\n");
  expect_refusal(hone("records export no/such/folder.json --records r.db"), {"no/such/folder.json", "No such file"});
  expect_refusal(hone("records export . --records r.db"), {"cannot write '.'"});

  EXPECT_EQ(hone("records export link.json --records r.db").status, 0);
  EXPECT_THAT(read("old.json"), StartsWith("{"));
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(read("old.json"), hone("records export --records r.db").output);
  EXPECT_EQ(hone("records export /dev/stdout --records r.db").output, read("old.json"));
  for (const fs::directory_entry& entry : fs::directory_iterator(path(".")))
    EXPECT_THAT(entry.path().filename().string(), Not(StartsWith("old.json.")));
}

TEST_F(RecordsCommand, AreNotMadeWhereThereIsNothingToStore) {
  tune();
  fs::create_directory(path("folder"));
  expect_refusal(hone("records prune --records nowhere.db"), {"there is no file 'nowhere.db'"});
  expect_refusal(hone("records import missing.jsonl --records nowhere.db"), {"'missing.jsonl'", "No such file"});
  expect_refusal(hone("records import folder --records nowhere.db"), {"'folder'", "directory"});
  expect_refusal(hone("records merge missing.db --records nowhere.db"), {"'missing.db'"});
  EXPECT_FALSE(fs::exists(path("nowhere.db")));
  EXPECT_THAT(hone("records merge r.db --records new.db").output, HasSubstr("new records in new.db"));
}

TEST_F(RecordsCommand, AreCountedAsTuningCountsThem) {
  tune();
  const std::vector<measure::Record> found = all();
  const auto adopted = std::count_if(found.begin(), found.end(), measure::find_adoption);
  ASSERT_GT(adopted, 0);
  std::istringstream listed(hone("records ls --records r.db").output);
  std::string line, key;
  for (int i = 0; i < 3; ++i) std::getline(listed, line);  // after the target and the head
  std::int64_t trials = 0;
  std::istringstream(line) >> key >> trials;
  EXPECT_EQ(trials, static_cast<std::int64_t>(found.size()) - adopted) << line;
}

TEST_F(RecordsCommand, ShowWhyTrialsFailed) {
  tune();
  measure::Record failed = all().front();
  for (int i = 0; i < 3; ++i) {
    failed.uid = std::to_string(i);
    failed.status = measure::TrialStatus::Crash;
    failed.samples_ns.clear();
    failed.message = "the worker was killed by signal " + std::to_string(i);
    ASSERT_TRUE(records().insert(failed));
  }
  const std::string show = "records show " + failed.task.key.substr(0, 8) + " --records r.db";
  EXPECT_THAT(hone(show).output, AllOf(HasSubstr("3 failed"), HasSubstr("  crash: the worker was killed by signal 0"),
                                       HasSubstr("signal 2\n    " + failed.candidate), HasSubstr("median us")));
  EXPECT_THAT(hone(show + " --keep 1").output,
              AllOf(HasSubstr("3 failed"), HasSubstr("signal 2"), Not(HasSubstr("signal 1")), HasSubstr("2 others")));
}

TEST_F(RecordsCommand, ThatAreDamagedAreNamedOnceByWhoeverUsesThem) {
  tune();
  constexpr std::size_t kPage = 4096;  // the first one says what tables there are
  const std::string whole = read("r.db");
  ASSERT_GT(whole.size(), 2 * kPage);
  write("z.db", whole.substr(0, kPage) + std::string(whole.size() - kPage, '\xff'));
  for (const std::string line : {"run dense.onnx --random", "bench dense.onnx --rounds 1", "inspect dense.onnx",
                                 "explain dense.onnx", "explain dense.onnx 1"}) {
    const Outcome outcome = hone(line + " --dim batch=5 --threads 1 --records z.db");
    EXPECT_EQ(outcome.status, 0) << line << ": " << outcome.errors;
    const std::size_t place = outcome.errors.find("'z.db' is damaged");
    EXPECT_NE(place, std::string::npos) << line << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors.find("z.db", place + 6), std::string::npos) << line << ": " << outcome.errors;
  }
  EXPECT_EQ(hone("run dense.onnx --random --dim batch=5 --threads 1 --records z.db").output,
            hone("run dense.onnx --random --dim batch=5 --threads 1 --records none").output);
  const Outcome tuned = hone("tune dense.onnx --dim batch=5 --threads 1 --records z.db --trials 2 --no-finals");
  EXPECT_EQ(tuned.status, 2);
  EXPECT_THAT(tuned.output, HasSubstr("MatMul+Relu: {"));
  EXPECT_THAT(tuned.errors, HasSubstr("'z.db' is damaged"));
}

}  // namespace
}  // namespace hone::command
