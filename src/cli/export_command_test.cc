// `goodput export` as it is typed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/testing/recorded_job.h"

namespace goodput::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kBoot;
using testing::kSecond;
using testing::Outcome;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

std::string text_of(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

class ExportCommand : public testing::RecordedJob {
 protected:
  /// What events tell: not what only the headers of journals know, nor what other ranks recorded of themselves.
  static json without_what_exports_lack(const std::string& text) {
    json report = json::parse(text, nullptr, false);
    for (const char* key : {"run_id", "labels", "accelerators", "accelerator_type", "accelerator_hours", "cost",
                            "currency", "ranks", "first_stopped_rank"}) {
      report.erase(key);
    }
    return report;
  }
  void expect_equal_reports(const std::string& job, int64_t now_seconds) {
    const std::string file = out_.path() + "/events.jsonl";
    EXPECT_EQ(run({"export", job, "--output", file}).code, kDone);
    const json of_journal = without_what_exports_lack(report({job}, now_seconds));
    const json of_export = without_what_exports_lack(report({"--input", file, "--job", job}, now_seconds));
    EXPECT_EQ(json::diff(of_journal, of_export), json::array());
  }

  TemporaryFolder out_;
};

TEST_F(ExportCommand, ReportOfTheExportIsTheReportOfTheJournals) {
  eventful_job();
  const json whole = json::parse(report({"llama-7b"}), nullptr, false);
  EXPECT_EQ(whole.at("attempts").size(), 3U);
  EXPECT_EQ(whole.at("attempts").at(1).at("id"), "slurm.7#2");
  EXPECT_EQ(whole.at("attempts").at(1).at("exit_signal"), 9);
  EXPECT_EQ(whole.at("status"), "completed");
  EXPECT_EQ(whole.at("badput_seconds").at("CHECKPOINT_RESTORE"), 1.0);
  EXPECT_EQ(whole.at("badput_seconds").at("CHECKPOINT_SAVE"), 0.5);
  EXPECT_EQ(whole.at("disruption_records").at(0).at("detail"), "the host goes \"away\"");
  for (const int64_t now_seconds : {30, 60, 120, 200, 305, 1'000}) expect_equal_reports("llama-7b", now_seconds);
}

TEST_F(ExportCommand, SoItIsWithoutAnEndWithLivenessAlone) {
  attempt({.attempt_id = "one", .id = 1}, 0, 0);
  auto second = attempt({.attempt_id = "two", .host = "node-9", .id = 2}, 60, 5);
  second.alive_at(kBoot + 100 * kSecond);
  second.write();
  for (const int64_t now_seconds : {75, 105, 159, 161, 10'000}) expect_equal_reports("llama-7b", now_seconds);
}

TEST_F(ExportCommand, EachFormatHasItsFirstLine) {
  attempt({.id = 1}, 0, 0);
  EXPECT_THAT(run({"export", "llama-7b"}).out, ::testing::StartsWith(R"({"job_name":"llama-7b","job_start_time":)"));
  EXPECT_THAT(run({"export", "llama-7b", "--format", "csv"}).out, ::testing::StartsWith("time,time_seconds,kind,step"));
  const json trace = json::parse(run({"export", "llama-7b", "--format", "trace"}).out, nullptr, false);
  EXPECT_EQ(trace.at("otherData").at("job"), "llama-7b");
  EXPECT_EQ(run({"export", "llama-7b", "--format", "xml"}).code, kUsage);
  EXPECT_EQ(run({"export", "nobody"}).code, kAnswerIsNo);
}

TEST_F(ExportCommand, AFileAppearsWholeAndKeepsNoCompany) {
  attempt({.id = 1}, 0, 0);
  const std::string file = out_.path() + "/events.jsonl";
  std::ofstream(file) << "old";
  std::filesystem::create_symlink(file, out_.path() + "/link");
  EXPECT_EQ(run({"export", "llama-7b", "-o", out_.path() + "/link"}).code, kDone);
  EXPECT_EQ(text_of(file), run({"export", "llama-7b"}).out);
  EXPECT_TRUE(std::filesystem::is_symlink(out_.path() + "/link"));
  EXPECT_THAT(names_in(out_.path()), ::testing::UnorderedElementsAre("events.jsonl", "link"));
}

TEST_F(ExportCommand, WhereNothingCanBeWrittenIsSaid) {
  attempt({.id = 1}, 0, 0);
  const Outcome missing = run({"export", "llama-7b", "-o", "/no/such/folder/events.jsonl"});
  EXPECT_EQ(missing.code, kCannot);
  EXPECT_EQ(missing.err, "goodput export: writing /no/such/folder/events.jsonl: No such file or directory\n");
  const Outcome full = run({"export", "llama-7b", "-o", "/dev/full"});
  EXPECT_EQ(full.code, kCannot);
  EXPECT_EQ(full.err, "goodput export: writing /dev/full: No space left on device\n");
  EXPECT_EQ(run({"export", "llama-7b", "-o", "/dev/null"}).code, kDone);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, NothingRemainsOfWhatWasNotFinished) {
  const TemporaryFolder folder;
  {
    Result<OutputFile> file = OutputFile::open(folder.path() + "/x", stdout);
    ASSERT_TRUE(file.ok());
    file->write("half");
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(OutputFile, AClosedPipeIsTold) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  FILE* out = fdopen(ends[1], "w");
  Result<OutputFile> file = OutputFile::open("", out);
  file->write(std::string(1 << 20, 'x'));
  EXPECT_TRUE(file->has_failed());
  EXPECT_EQ(file->finish().code(), StatusCode::kUnavailable);
  std::fclose(out);
  std::signal(SIGPIPE, before);
}

TEST_F(ExportCommand, AReaderThatHasSeenEnoughIsNothingToComplainOf) {
  auto journal = attempt({.id = 1}, 0, 0);
  steps(journal, 10, 20'000, kBoot + 11 * kSecond);
  journal.write();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  FILE* out = fdopen(ends[1], "w");
  FILE* err = std::tmpfile();
  EXPECT_EQ(run_command_line({"--dir", folder_.path(), "export", "llama-7b"}, commands(), out, err), kCannot);
  EXPECT_EQ(run_command_line({"--dir", folder_.path(), "report", "llama-7b"}, commands(), out, err), kCannot);
  EXPECT_EQ(std::ftell(err), 0);
  std::fclose(out);
  std::fclose(err);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace goodput::cli
