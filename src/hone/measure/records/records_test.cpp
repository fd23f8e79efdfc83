#include "hone/measure/records/records.h"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sqlite3.h>
#include <sstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "hone/ir/text.h"
#include "hone/support/rng.h"
#include "hone/support/subprocess.h"
#include "hone/tensor/definitions.h"
#include "hone/tensor/lower.h"

namespace hone::measure {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "hone-records-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  std::string file(const char* name = "records.db") const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TaskKey matmul_task(std::int64_t m, std::int64_t n, std::int64_t k, const char* name = "A") {
  const tensor::Tensor a = tensor::placeholder(name, {m, k}), b = tensor::placeholder("B", {k, n});
  const std::vector<std::size_t> constants = {1};
  return task_key(tensor::lower("matmul", {a, b}, {tensor::matmul(a, b).value()}), constants);
}

Record record(const TaskKey& task, double ns, TrialStatus status = TrialStatus::Ok) {
  Record made;
  made.task = task;
  made.target = "cpu -mcpu=test -threads=1";
  made.candidate = R"({"space":"mapping","decisions":[1,2]})";
  made.trace = R"([{"step":"parallel","loop":"i"}])";
  made.status = status;
  if (status == TrialStatus::Ok) made.samples_ns = {ns + 2, ns, ns + 1};
  made.is_checked = true;
  made.compile_ms = 12.5;
  made.tags = R"({"seed":7})";
  return made;
}

constexpr const char* kTarget = "cpu -mcpu=test -threads=1";

TEST(TaskKey, NamesDoNotMatterAndSizesMakeAnotherTaskOfTheFamily) {
  const TaskKey task = matmul_task(8, 16, 32), renamed = matmul_task(8, 16, 32, "other"),
                larger = matmul_task(9, 16, 32);
  EXPECT_EQ(task.key, renamed.key);
  EXPECT_NE(task.key, larger.key);
  EXPECT_EQ(task.family, larger.family);
  EXPECT_EQ(task.shapes, (std::vector<std::vector<std::int64_t>>{{8, 32}, {32, 16}, {8, 16}}));
  const tensor::Tensor x = tensor::placeholder("A", {8, 32});
  const TaskKey other = task_key(tensor::lower("relu", {x}, {tensor::relu(x)}), {});
  EXPECT_NE(task.family, other.family);
  const TaskKey variable = task_key(ir::parse_function(task.text).value(), {});
  EXPECT_NE(task.key, variable.key) << "whether a parameter is constant is part of the task";
}

TEST(Records, WhatIsStoredComesBack) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  Record stored = record(matmul_task(8, 16, 32), 100);
  stored.message = "naïve “quotes” \"and\" \n lines";
  ASSERT_TRUE(records.insert(stored));
  Record read = records.find({}).value().at(0);
  EXPECT_EQ(read.uid.size(), 32u);
  EXPECT_GT(read.time_ms, 1'600'000'000'000);
  EXPECT_EQ(read.version.substr(0, 2), "0.");
  EXPECT_EQ(read.median_ns(), 101);
  stored.uid = read.uid;
  stored.time_ms = read.time_ms;
  stored.version = read.version;
  EXPECT_EQ(read, stored);
}

TEST(Records, TheBestIsTheFastestThatWasChecked) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  const TaskKey task = matmul_task(8, 16, 32);
  EXPECT_FALSE(records.best(task.key, kTarget).value());
  ASSERT_TRUE(records.insert(record(task, 300)));
  ASSERT_TRUE(records.insert(record(task, 200)));
  ASSERT_TRUE(records.insert(record(task, 0, TrialStatus::Crash)));
  Record unchecked = record(task, 50), flushed = record(task, 60), elsewhere = record(task, 70);
  unchecked.is_checked = false;
  flushed.cache = CacheState::Flushed;
  elsewhere.target = "cpu -mcpu=other -threads=1";
  for (const Record& other : {unchecked, flushed, elsewhere, record(matmul_task(9, 16, 32), 80)})
    ASSERT_TRUE(records.insert(other));
  EXPECT_EQ(records.best(task.key, kTarget).value()->min_ns(), 200);
  EXPECT_EQ(records.best(task.key, kTarget, CacheState::Flushed).value()->min_ns(), 60);
  EXPECT_FALSE(records.best("nothing", kTarget).value());
}

TEST(Records, TheAdoptedOneIsTheLatestWhoseTagsSaySo) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  const TaskKey task = matmul_task(8, 16, 32);
  Record trial = record(task, 50), known = record(task, 100), unknown = record(task, 200);
  EXPECT_FALSE(find_adoption(trial));
  known.tags = adopted_tags({.first_ns = 150.5, .first = known.candidate});
  unknown.tags = adopted_tags({.first_ns = std::numeric_limits<double>::infinity()});
  for (const Record& one : {known, unknown, trial}) ASSERT_TRUE(records.insert(one));
  const Record found = records.adopted(task.key, trial.target).value().value();
  EXPECT_EQ(found.tags, unknown.tags);
  EXPECT_TRUE(std::isinf(find_adoption(found).value().first_ns));
  const Adoption adoption = find_adoption(records.find({}).value().at(0)).value();
  EXPECT_EQ(adoption.first_ns, 150.5);
  EXPECT_EQ(adoption.first, known.candidate);
  EXPECT_EQ(find_adoption(found).value().first, "");
  for (const char* odd : {"[]", "true", R"({"adopted":"yes"})", R"({"adopted":false,"first_ns":3})"}) {
    trial.tags = odd;
    EXPECT_FALSE(find_adoption(trial)) << odd;
  }
  trial.tags = R"({"adopted":true,"first_ns":"soon"})";
  EXPECT_TRUE(std::isinf(find_adoption(trial).value().first_ns));
}

TEST(Records, OtherShapesOfAFamilyAreFoundWithTheirBest) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  for (const std::int64_t m : {8, 9, 10})
    for (const double ns : {300.0, 200.0 + static_cast<double>(m), 400.0})
      ASSERT_TRUE(records.insert(record(matmul_task(m, 16, 32), ns)));
  const std::vector<Record> others = records.best_of_family(matmul_task(9, 16, 32), kTarget).value();
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].task.shapes[0], (std::vector<std::int64_t>{8, 32}));
  EXPECT_EQ(others[0].min_ns(), 208);
  EXPECT_EQ(others[1].min_ns(), 210);
}

TEST(Records, FiltersAndSummariesCountWhatIsThere) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  const TaskKey a = matmul_task(8, 16, 32), b = matmul_task(9, 16, 32);
  Record adopted = record(a, 4);
  adopted.tags = adopted_tags({});
  for (const Record& one :
       {record(a, 5), record(a, 4), adopted, record(a, 0, TrialStatus::Timeout), record(b, 0, TrialStatus::Crash)})
    ASSERT_TRUE(records.insert(one));
  EXPECT_EQ(records.count().value(), 5);
  EXPECT_EQ(records.count({.task = a.key}).value(), 4);
  EXPECT_EQ(records.count({.family = a.family, .status = TrialStatus::Crash}).value(), 1);
  EXPECT_EQ(records.count({.target = "none", .only_checked = true}).value(), 0);
  const std::vector<TaskSummary> summaries = records.summaries().value();
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].task, a);
  EXPECT_EQ(summaries[0].trials, 3) << "what was adopted was a trial before";
  EXPECT_EQ(summaries[0].failures, 1);
  EXPECT_EQ(summaries[0].best_ns, 4);
  EXPECT_TRUE(std::isinf(summaries[1].best_ns));
}

TEST(Records, JsonLinesGoOutAndComeBackOnce) {
  const Folder folder;
  Records from = Records::open(folder.file("from.db")).value(), to = Records::open(folder.file("to.db")).value();
  for (const Record& one : {record(matmul_task(8, 16, 32), 5), record(matmul_task(9, 16, 32), 4),
                            record(matmul_task(8, 16, 32), 0, TrialStatus::Timeout)})
    ASSERT_TRUE(from.insert(one));
  std::stringstream lines;
  ASSERT_TRUE(from.export_lines(lines));
  std::istringstream first("# a comment\n\n" + lines.str()), second(lines.str());
  EXPECT_EQ(to.import_lines(first).value(), 3);
  EXPECT_EQ(to.import_lines(second).value(), 0);
  EXPECT_EQ(to.find({}).value(), from.find({}).value());
}

TEST(Records, AWrongLineIsNamedAndNothingIsTakenIn) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  const Record good = record(matmul_task(8, 16, 32), 5);
  const auto import_error = [&](const std::string& line) {
    std::istringstream lines(to_json_line(good.task) + "\n" + line + "\n");
    const Result<std::int64_t> added = records.import_lines(lines);
    EXPECT_EQ(records.count().value(), 0);
    return added ? "no error" : added.error().message;
  };
  EXPECT_EQ(import_error("{"), "records: line 2: a record line is no JSON object");
  EXPECT_EQ(import_error("{}"), "records: line 2: a record line has no number 'schema', allowed are 1..1");
  EXPECT_EQ(import_error(R"({"schema":2})"), "records: line 2: a record line has schema 2, this hone reads 1..1");
  EXPECT_EQ(import_error(R"({"schema":1,"kind":"tusk"})"),
            "records: line 2: a record line is of kind \"tusk\", allowed are \"task\" and \"record\"");
  EXPECT_EQ(import_error(R"({"schema":1,"kind":"record"})"),
            "records: line 2: field 'uid' of a record line is missing");
  std::string line = to_json_line(good);
  line.replace(line.find("\"ok\""), 4, "\"fine\"");
  EXPECT_EQ(import_error(line), "records: line 2: field 'status' of a record line is 'fine'");
  EXPECT_EQ(import_error(to_json_line(record(matmul_task(9, 16, 32), 5))).substr(0, 55),
            "records: line 2: no line before it is about the task '" + matmul_task(9, 16, 32).key.substr(0, 1));
}

TEST(Records, CandidatesThatAreNoJsonAreRefused) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  Record wrong = record(matmul_task(8, 16, 32), 5);
  wrong.candidate = "{tile";
  const Result<void> stored = records.insert(wrong);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().message, "records: candidate '{tile' is no JSON");
  EXPECT_EQ(records.count().value(), 0);
}

TEST(Records, MergingTwiceChangesNothing) {
  const Folder folder;
  Records a = Records::open(folder.file("a.db")).value(), b = Records::open(folder.file("b.db")).value();
  ASSERT_TRUE(a.insert(record(matmul_task(8, 16, 32), 5)));
  ASSERT_TRUE(b.insert(record(matmul_task(8, 16, 32), 4)));
  ASSERT_TRUE(b.insert(record(matmul_task(9, 16, 32), 3)));
  EXPECT_EQ(a.merge(b).value(), 2);
  EXPECT_EQ(a.merge(b).value(), 0);
  EXPECT_EQ(a.count().value(), 3);
  EXPECT_EQ(a.best(matmul_task(8, 16, 32).key, kTarget).value()->min_ns(), 4);
}

TEST(Records, PruningKeepsTheFastest) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  const TaskKey task = matmul_task(8, 16, 32), failed = matmul_task(9, 16, 32);
  for (int i = 10; i > 0; --i) ASSERT_TRUE(records.insert(record(task, i)));
  Record unchecked = record(task, 0.5);
  unchecked.is_checked = false;
  ASSERT_TRUE(records.insert(unchecked));
  ASSERT_TRUE(records.insert(record(failed, 0, TrialStatus::Crash)));
  EXPECT_EQ(records.prune(3, /*keep_failures=*/true).value(), 7);
  EXPECT_EQ(records.best(task.key, kTarget).value()->min_ns(), 1);
  EXPECT_EQ(records.prune(3).value(), 1);
  EXPECT_EQ(records.summaries().value().size(), 1u);
  EXPECT_EQ(records.count().value(), 4);
}

std::string open_error(const std::string& file, Records::Mode mode = Records::Mode::ReadWrite) {
  const Result<Records> records = Records::open(file, mode);
  return records ? "no error" : records.error().message;
}

TEST(Records, AMissingFileIsNotFoundWhereItIsNotMade) {
  const Folder folder;
  for (const auto mode : {Records::Mode::ReadOnly, Records::Mode::Existing}) {
    const Result<Records> missing = Records::open(folder.file(), mode);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_FALSE(fs::exists(folder.file()));
  }
  ASSERT_TRUE(Records::open(folder.file()));
  EXPECT_TRUE(Records::open(folder.file(), Records::Mode::Existing)->insert(record(matmul_task(8, 16, 32), 1)));
}

TEST(Records, AFileOfSomethingElseIsLeftAsItIs) {
  const Folder folder;
  const std::string file = folder.file();
  std::ofstream(file)
      << "these are not the records you are looking for, but they are long enough to be a header of some";
  EXPECT_EQ(open_error(file),
            "records: '" + file + "' is damaged or no record file: file is not a database; move it away to start anew");
  EXPECT_EQ(fs::file_size(file), 94u);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(folder.file("other.db").c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE theirs (x); PRAGMA user_version = 1", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_EQ(open_error(folder.file("other.db")),
            "records: '" + folder.file("other.db") + "' is a database, but not one of hone's");
}

TEST(Records, DamageInTheMiddleIsAnErrorAndNoCrash) {
  const Folder folder;
  {
    Records records = Records::open(folder.file()).value();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(records.insert(record(matmul_task(8, 16, 32), i)));
  }
  std::string bytes;
  {
    std::ifstream in(folder.file(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  Rng rng(/*seed=*/2);
  int errors = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::string broken = bytes;
    for (int k = 0; k < 400; ++k) rng.choose(broken) = static_cast<char>(rng.next());
    if (trial % 4 == 0)
      broken.resize(static_cast<std::size_t>(rng.uniform(1, static_cast<std::int64_t>(bytes.size()))));
    const std::string file = folder.file("broken.db");
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file + suffix);
    std::ofstream(file, std::ios::binary) << broken;
    Result<Records> records = Records::open(file);
    const bool is_fine = records && records->find({}) && records->insert(record(matmul_task(8, 16, 32), 1));
    errors += is_fine ? 0 : 1;
  }
  EXPECT_GT(errors, 20);
}

TEST(Records, ANewerSchemaIsRefusedByName) {
  const Folder folder;
  ASSERT_TRUE(Records::open(folder.file()));
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(folder.file().c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA user_version = 9", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  for (const Records::Mode mode : {Records::Mode::ReadWrite, Records::Mode::ReadOnly})
    EXPECT_EQ(open_error(folder.file(), mode),
              "records: '" + folder.file() + "' has schema 9, this hone reads up to 1: use a newer hone");
}

/// Not the superuser as long as it lives, who may write everything.
class Unprivileged {
 public:
  Unprivileged() : was_root_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST(Records, AFolderThatCannotBeWrittenCanBeRead) {
  const Folder folder;
  {
    Records records = Records::open(folder.file()).value();
    ASSERT_TRUE(records.insert(record(matmul_task(8, 16, 32), 5)));
  }
  fs::permissions(folder.file(), static_cast<fs::perms>(0444));
  fs::permissions(folder.path(), static_cast<fs::perms>(0555));
  const Unprivileged nobody;
  Result<Records> writing = Records::open(folder.file());
  if (writing) {
    const Result<void> stored = writing->insert(record(matmul_task(8, 16, 32), 5));
    ASSERT_FALSE(stored);
    EXPECT_NE(stored.error().message.find("cannot be written"), std::string::npos) << stored.error().message;
  } else {
    EXPECT_NE(writing.error().message.find("cannot be"), std::string::npos) << writing.error().message;
  }
  EXPECT_NE(open_error(folder.file("new.db")).find("cannot be opened"), std::string::npos);
  EXPECT_NE(open_error(folder.file("deep/new.db")).find("cannot be made: Permission denied"), std::string::npos);
  const Result<Records> reading = Records::open(folder.file(), Records::Mode::ReadOnly);
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->count().value(), 1);
}

TEST(Records, WhenNothingMoreCanBeWrittenWhatIsThereStays) {
  const Folder folder;
  Records records = Records::open(folder.file()).value();
  ASSERT_TRUE(records.insert(record(matmul_task(8, 16, 32), 5)));
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 200'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  int stored = 1;
  Result<void> last;
  for (; stored < 5000 && last; stored += last ? 1 : 0) { last = records.insert(record(matmul_task(8, 16, 32), 5)); }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(last) << "the disk was never full";
  EXPECT_EQ(last.error().message.find("records: "), 0u) << last.error().message;
  EXPECT_EQ(records.count().value(), stored);
  EXPECT_TRUE(records.insert(record(matmul_task(8, 16, 32), 5)));
}

/// Not a test: the program that the tests below start, which is this one with this filter. It is told a file, and says
/// how many records it has stored after each.
TEST(RecordsChild, DISABLED_Writer) {
  std::optional<Channel> channel = channel_to_parent();
  ASSERT_TRUE(channel);
  std::string file;
  ASSERT_EQ(channel->receive(file, deadline_in_ms(10'000)), Transfer::Done);
  Result<Records> records = Records::open(file);
  ASSERT_TRUE(records) << records.error().message;
  for (int i = 1;; ++i) {
    Record one = record(matmul_task(8, 16, 32), i);
    one.tags = R"({"writer":)" + std::to_string(::getpid()) + "}";
    const Result<void> stored = records->insert(one);
    ASSERT_TRUE(stored) << stored.error().message;
    if (channel->send(std::to_string(i), deadline_in_ms(10'000)) != Transfer::Done) return;
  }
}

Subprocess start_writer(const std::string& file) {
  Subprocess writer = Subprocess::start("/proc/self/exe", {"--gtest_filter=RecordsChild.DISABLED_Writer",
                                                           "--gtest_also_run_disabled_tests"})
                          .value();
  EXPECT_EQ(writer.channel().send(file, deadline_in_ms(10'000)), Transfer::Done);
  return writer;
}

/// What a writer has told so far, up to a moment from now.
int stored_by(Subprocess& writer, double ms) {
  int stored = 0;
  const Deadline deadline = deadline_in_ms(ms);
  for (std::string message; writer.channel().wait(deadline);) {
    if (writer.channel().receive(message, deadline_in_ms(10'000)) != Transfer::Done) break;
    stored = std::stoi(message);
  }
  return stored;
}

int count_of(const Records& records, pid_t writer) {
  const std::string tags = R"({"writer":)" + std::to_string(writer) + "}";
  int count = 0;
  EXPECT_TRUE(records.for_each({}, [&](const Record& one) { count += one.tags == tags ? 1 : 0; }));
  return count;
}

void expect_consistent(const std::string& file) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  std::string answer;
  const auto note = [](void* to, int, char** values, char**) {
    static_cast<std::string*>(to)->append(values[0]);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(handle, "PRAGMA integrity_check", note, &answer, nullptr), SQLITE_OK);
  EXPECT_EQ(answer, "ok");
  sqlite3_close(handle);
}

TEST(Records, AWriterKilledAtRandomMomentsLosesNothingItHasStored) {
  const Folder folder;
  Rng rng(/*seed=*/4);
  int all = 0;
  for (int kill = 0; kill < 25; ++kill) {
    Subprocess writer = start_writer(folder.file());
    if (kill % 2 == 0) (void)writer.channel().wait(deadline_in_ms(10'000));  // the others may die before they write
    const int told = stored_by(writer, static_cast<double>(rng.uniform(10, 120)));
    EXPECT_EQ(writer.kill().signal, SIGKILL) << writer.last_words();
    const int more = stored_by(writer, 0);  // what was on its way
    expect_consistent(folder.file());
    if (!fs::exists(folder.file())) continue;
    const Records records = Records::open(folder.file()).value();
    const int found = count_of(records, writer.pid());
    EXPECT_GE(found, std::max(told, more));
    EXPECT_LE(found, std::max(told, more) + 1) << "stored, but not told before it died";
    all += found;
    EXPECT_EQ(records.count().value(), all);
  }
  EXPECT_GT(all, 25);
}

TEST(Records, TwoWritersShareAFile) {
  const Folder folder;
  Subprocess a = start_writer(folder.file()), b = start_writer(folder.file());
  int from_a = 0, from_b = 0;
  for (int i = 0; i < 100 && (from_a < 20 || from_b < 20); ++i) {
    from_a = std::max(from_a, stored_by(a, 100));
    from_b = std::max(from_b, stored_by(b, 100));
  }
  EXPECT_GE(from_a, 20) << a.last_words();
  EXPECT_GE(from_b, 20) << b.last_words();
  a.kill();
  b.kill();
  const Records records = Records::open(folder.file()).value();
  EXPECT_GE(count_of(records, a.pid()), from_a);
  EXPECT_GE(count_of(records, b.pid()), from_b);
  expect_consistent(folder.file());
}

}  // namespace
}  // namespace hone::measure
