// Which file records are kept in.
#include <cstdlib>
#include <gtest/gtest.h>

#include "hone/measure/records/records.h"

namespace hone::measure {
namespace {

TEST(RecordsFile, TheDefaultPlaceFollowsTheEnvironment) {
  const auto with = [](const char* file, const char* data, const char* home) {
    const auto set = [](const char* name, const char* value) { value ? ::setenv(name, value, 1) : ::unsetenv(name); };
    const std::string old_home = std::getenv("HOME") ? std::getenv("HOME") : "";
    set("HONE_RECORDS", file);
    set("XDG_DATA_HOME", data);
    set("HOME", home);
    const std::string place = default_records_file();
    set("HONE_RECORDS", nullptr);
    set("XDG_DATA_HOME", nullptr);
    set("HOME", old_home.c_str());
    return place;
  };
  EXPECT_EQ(with("/a/b.db", "/data", "/home/x"), "/a/b.db");
  EXPECT_EQ(with(nullptr, "/data", "/home/x"), "/data/hone/records.db");
  EXPECT_EQ(with(nullptr, "relative", "/home/x"), "/home/x/.local/share/hone/records.db");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
  EXPECT_EQ(Records::open("").error().code, ErrorCode::NotFound);
}

TEST(RecordsFile, NoneNamesNoFile) {
  EXPECT_EQ(records_file("none"), "");
  EXPECT_EQ(records_file(""), "");
  EXPECT_EQ(records_file("default"), default_records_file());
  EXPECT_EQ(records_file("a.db"), "a.db");
}

}  // namespace
}  // namespace hone::measure
