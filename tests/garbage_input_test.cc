// `goodput report --input` on what is no log, or one that was damaged: what it says, its exit code, and that nothing
// that is there is lost.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/testing/capture.h"

namespace goodput {
namespace {

using cli::testing::Outcome;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string step(int number) {
  return "{\"job_name\":\"j\",\"step_count\":" + std::to_string(number) +
         ",\"step_start_time\":" + std::to_string(1767225600 + 10 * number) + ".0}\n";
}

std::string steps(int from, int to) {
  std::string text;
  for (int number = from; number < to; ++number) text += step(number);
  return text;
}

class GarbageInput : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& text) const {
    std::ofstream(path("log"), std::ios::binary) << text;
    return path("log");
  }
  static Outcome report(const std::string& input) {
    return cli::testing::run_captured(
        {"report", "--config", "/dev/null", "--json", "--now", "1767226000", "--input", input}, cli::commands());
  }
  /// Holds that the ten steps of a file were counted, and returns what it found wrong with it.
  static std::string finding_beside_ten_steps(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json read = json::parse(outcome.out, nullptr, false);
    if (!read.is_object()) return outcome.err;
    EXPECT_EQ(read.at("last_step"), 9);
    EXPECT_EQ(read.at("goodput_seconds"), 90.0);
    const json& findings = read.at("data_quality").at("findings");
    if (findings.size() != 1) return findings.dump();
    EXPECT_EQ(findings.at(0).at("count"), 1);
    return findings.at(0).at("kind").get<std::string>() + ": " + findings.at(0).at("message").get<std::string>();
  }

  TemporaryFolder folder_;
};

TEST_F(GarbageInput, WhatIsNoLogIsSaidInASentence) {
  struct Row {
    const char* name;
    std::string content;
    int code;
    const char* message;
  };
  const std::string noise(
      "\x7f"
      "ELF\x02\x01\0\0\xff\xfe garbage \x1b[2J",
      24);
  for (const Row& row : {
           Row{"empty", "", 1, "it is empty"},
           Row{"blank lines", "\n\n \n", 1, "it is empty"},
           Row{"no event", "{\"a\":1}\n[]\n", 1, "it has no event"},
           Row{"text", "hello\nworld\n", 3, "it is no event log, none of its 2 entries is a JSON object"},
           Row{"binary", noise, 3, "it is no event log, none of its 1 entry is a JSON object"},
           Row{"zeros", std::string(100'000, '\0'), 3, "it is no event log, none of its 1 entry is a JSON object"},
           Row{"open array", "[", 3, "it is no event log, none of its 1 entry is a JSON object"},
       }) {
    const Outcome outcome = report(write(row.content));
    EXPECT_EQ(outcome.code, row.code) << row.name;
    EXPECT_EQ(outcome.out, "") << row.name;
    EXPECT_THAT(outcome.err, HasSubstr("goodput report: reading " + path("log") + ": " + row.message)) << row.name;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << row.name << ": " << outcome.err;
  }
}

TEST_F(GarbageInput, WhatCannotBeReadIsSaidWithItsReason) {
  const Outcome directory = report(folder_.path());
  EXPECT_EQ(directory.code, 3);
  EXPECT_EQ(directory.err, "goodput report: reading " + folder_.path() + ": Is a directory\n");
  const Outcome missing = report(path("none"));
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.err, "goodput report: opening " + path("none") + ": No such file or directory\n");
}

TEST_F(GarbageInput, WithoutPermissionItSaysSo) {
  const std::string file = write(steps(0, 10));
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(file.c_str(), 0), 0);
  // Root reads everything: as nobody, in a process of its own.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65'534) != 0) _exit(99);
    const Outcome outcome = report(file);
    const bool said = outcome.err == "goodput report: opening " + file + ": Permission denied\n";
    _exit(said ? outcome.code : 98);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 3);
}

TEST_F(GarbageInput, ATruncatedFileLosesItsLastEntryOnly) {
  const std::string last = step(10);
  for (const size_t cut : {size_t{1}, last.size() / 2, last.size() - 2}) {
    const std::string found = finding_beside_ten_steps(report(write(steps(0, 10) + last.substr(0, cut))));
    EXPECT_THAT(found, HasSubstr("malformed_entry: 1 entry")) << cut;
    EXPECT_THAT(found, HasSubstr("line 11")) << cut;
  }
}

TEST_F(GarbageInput, ATruncatedArrayLosesItsLastElementOnly) {
  std::string array = "[";
  for (int number = 0; number < 10; ++number) array += step(number) + ",";
  EXPECT_THAT(finding_beside_ten_steps(report(write(array + step(10).substr(0, 30)))), HasSubstr("malformed_entry"));
}

TEST_F(GarbageInput, AGarbageLineInTheMiddleCostsItself) {
  const std::string noise =
      "\x7f"
      "ELF\x02 } ] \" [ { \xff\xfe";
  EXPECT_THAT(finding_beside_ten_steps(report(write(steps(0, 4) + noise + "\n" + steps(4, 10)))), HasSubstr("line 5"));
}

TEST_F(GarbageInput, BytesThatAreNoUtf8LoseNothing) {
  const std::string event = "{\"job_name\":\"j\",\"heartbeat_time\":1767225601.0,\"host\":\"\xff\xc3\"}\n";
  EXPECT_THAT(finding_beside_ten_steps(report(write(steps(0, 1) + event + steps(1, 10)))),
              HasSubstr("repaired_entry: 1 entry"));
  const Outcome renamed = report(write("{\"job_name\":\"\xff\",\"job_start_time\":1767225600.0}\n"));
  EXPECT_EQ(renamed.code, 0);
  EXPECT_EQ(json::parse(renamed.out, nullptr, false).at("job"), "\xEF\xBF\xBD");
}

/// A gigabyte in the long variant. It is a hole in the file, of zeros.
TEST_F(GarbageInput, AnEndlessLineIsSkippedWithoutBeingHeld) {
  const off_t length = std::getenv("GOODPUT_SOAK") == nullptr ? off_t{70} << 20 : off_t{1} << 30;
  const std::string file = write(steps(0, 5));
  const auto begin = static_cast<off_t>(steps(0, 5).size());
  ASSERT_EQ(truncate(file.c_str(), begin + length), 0);
  std::ofstream(file, std::ios::binary | std::ios::app) << "\n" << steps(5, 10);
  EXPECT_THAT(finding_beside_ten_steps(report(file)), HasSubstr("it is longer than 64 MiB (first: line 6)"));
}

}  // namespace
}  // namespace goodput
