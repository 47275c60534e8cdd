// What stands between the program and a person's shell: suggestions, progress, what a terminal can show, completion.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/completion.h"
#include "cli/move_options.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cli/suggest.h"
#include "cli/terminal_style.h"
#include "cli/testing/capture.h"

namespace goodput::cli {
namespace {

using report::ColorDepth;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ScopedEnvironment;
using ::testing::UnorderedElementsAre;

TEST(Suggest, NearestWordWithinAThirdOfTheLength) {
  const std::vector<std::string> words = {"report", "ranks", "recover", "run"};
  EXPECT_EQ(suggest("reprot", words), "report");
  EXPECT_EQ(suggest("rank", words), "ranks");
  EXPECT_EQ(suggest("rnu", words), "run");
  EXPECT_EQ(suggest("banana", words), "");
  EXPECT_EQ(suggest("", words), "");
  EXPECT_EQ(suggest(std::string(100'000, 'r'), words), "");
}

class Terminal : public ::testing::Test {
 protected:
  Terminal() {
    const winsize size{.ws_row = 24, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
    CHECK(openpty(&master_, &slave_, nullptr, nullptr, &size) == 0);
  }
  ~Terminal() override {
    close(master_);
    close(slave_);
  }

  ScopedEnvironment columns_{"COLUMNS", nullptr}, no_color_{"NO_COLOR", nullptr}, color_term_{"COLORTERM", nullptr};
  ScopedEnvironment term_{"TERM", "xterm-256color"}, all_{"LC_ALL", nullptr}, ctype_{"LC_CTYPE", nullptr};
  ScopedEnvironment lang_{"LANG", "en_US.UTF-8"};
  int master_ = -1, slave_ = -1;
};

TEST_F(Terminal, WidthIsTheTerminalsUnlessColumnsSays) {
  EXPECT_EQ(detect_style(slave_, false).columns, 97);
  const ScopedEnvironment columns("COLUMNS", "123");
  EXPECT_EQ(detect_style(slave_, false).columns, 123);
  const ScopedEnvironment nonsense("COLUMNS", "wide");
  EXPECT_EQ(detect_style(slave_, false).columns, 97);
}

TEST_F(Terminal, ColoursNeedATerminalAndNobodyAgainstThem) {
  EXPECT_EQ(detect_style(slave_, false).colors, ColorDepth::k256);
  EXPECT_EQ(detect_style(slave_, true).colors, ColorDepth::kNone);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(detect_style(ends[1], false).colors, ColorDepth::kNone);
  EXPECT_EQ(detect_style(ends[1], false).columns, 80);
  close(ends[0]);
  close(ends[1]);
  {
    const ScopedEnvironment none("NO_COLOR", "1");
    EXPECT_EQ(detect_style(slave_, false).colors, ColorDepth::kNone);
  }
  {
    const ScopedEnvironment empty("NO_COLOR", "");
    EXPECT_EQ(detect_style(slave_, false).colors, ColorDepth::k256);
  }
  const ScopedEnvironment dumb("TERM", "dumb");
  EXPECT_EQ(detect_style(slave_, false).colors, ColorDepth::kNone);
  const ScopedEnvironment old("TERM", "xterm");
  EXPECT_EQ(detect_style(slave_, false).colors, ColorDepth::k16);
}

TEST_F(Terminal, LocaleSaysWhetherCharactersBeyondAsciiShow) {
  EXPECT_TRUE(detect_style(slave_, false).unicode);
  const ScopedEnvironment lang("LANG", "C");
  EXPECT_FALSE(detect_style(slave_, false).unicode);
  const ScopedEnvironment ctype("LC_CTYPE", "C.utf8");
  EXPECT_TRUE(detect_style(slave_, false).unicode);
  const ScopedEnvironment all("LC_ALL", "POSIX");
  EXPECT_FALSE(detect_style(slave_, false).unicode);
}

TEST(Progress, LineTellsHowFarAndHowMuchLonger) {
  const report::TerminalStyle ascii{.columns = 80, .unicode = false};
  EXPECT_EQ(progress_line("reading a.jsonl", 25, 100, 10, ascii),
            "reading a.jsonl ######                    25%, 30.0s left");
  EXPECT_EQ(progress_line("reading a.jsonl", 100, 100, 10, ascii), "reading a.jsonl ######################## 100%");
  EXPECT_EQ(progress_line("reading -", 123'456, 0, 10, ascii), "reading - 123,456 bytes");
  EXPECT_EQ(progress_line("\x1b[2J", 1, 0, 1, ascii), "\\x1b[2J 1 bytes");
}

TEST(Progress, NothingShowsBeforeHalfASecondAndNothingStays) {
  FILE* err = std::tmpfile();
  int64_t now_ns = 0;
  {
    ProgressBar bar(err, true, "reading", {.columns = 80, .unicode = false}, [&now_ns] { return now_ns; });
    now_ns = 499'000'000;
    bar.update(1, 100);
    EXPECT_EQ(std::ftell(err), 0);
    now_ns = 500'000'000;
    bar.update(2, 100);
    const int64_t drawn = std::ftell(err);
    EXPECT_GT(drawn, 0);
    now_ns = 599'000'000;
    bar.update(3, 100);
    EXPECT_EQ(std::ftell(err), drawn) << "ten times a second at most";
  }
  char last[4] = {};
  std::fseek(err, -4, SEEK_END);
  ASSERT_EQ(std::fread(last, 1, 4, err), 4U);
  EXPECT_EQ(std::string(last, 4), "\r\x1b[K");
  std::fclose(err);
}

TEST(Progress, HiddenWritesNothing) {
  FILE* err = std::tmpfile();
  {
    int64_t now_ns = 0;
    ProgressBar bar(err, false, "reading", {}, [&now_ns] { return now_ns += 10'000'000'000; });
    bar.update(1, 2);
  }
  EXPECT_EQ(std::ftell(err), 0);
  std::fclose(err);
}

// Runs the real shell on the script that the command line makes.
class Completion : public ::testing::Test {
 protected:
  Completion() : root_("", "goodput") {
    add_global_options(root_, globals_, GlobalsFrom::kFlagsAndEnvironment);
    CLI::App* report = root_.add_subcommand("report", "where it went: all of it, and the user's [events]");
    add_report_options(*report, report_options_);
    add_global_options(*report, globals_, GlobalsFrom::kFlags);
    add_export_options(*root_.add_subcommand("export", "records"), export_options_);
    std::string command;
    root_.add_subcommand("help", "help")->add_option("command", command_, "")->type_name("COMMAND");
  }

  // What bash offers for the last word.
  std::vector<std::string> offered(const std::vector<std::string>& words) {
    return offered_by(bash_completion(root_), words);
  }
  static std::vector<std::string> offered_by(const std::string& completion, const std::vector<std::string>& words) {
    std::string array;
    for (const std::string& word : words) array += " '" + word + "'";
    const std::string script =
        completion + fmt::format("COMP_WORDS=({}); COMP_CWORD={}; _goodput; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                                 array, words.size() - 1);
    std::istringstream lines(run("bash", script));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) found.push_back(line);
    }
    return found;
  }

  static std::string run(const std::string& shell, const std::string& script) {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("goodput_completion_{}", getpid())).string();
    std::ofstream(path) << script;
    FILE* pipe = popen((shell + " " + path + " 2>&1").c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out.push_back(static_cast<char>(c));
    EXPECT_EQ(pclose(pipe), 0) << out;
    std::filesystem::remove(path);
    return out;
  }

  Globals globals_;
  ReportOptions report_options_;
  ExportOptions export_options_;
  std::string command_;
  CLI::App root_;
};

TEST_F(Completion, BashOffersCommandsThenTheirOptions) {
  EXPECT_THAT(offered({"goodput", "re"}), ElementsAre("report"));
  EXPECT_THAT(offered({"goodput", ""}), Contains("export"));
  EXPECT_THAT(offered({"goodput", "--qui"}), ElementsAre("--quiet"));
  EXPECT_THAT(offered({"goodput", "report", "--ex"}), UnorderedElementsAre("--exclude", "--exclude-file"));
  EXPECT_THAT(offered({"goodput", "--dir", "/x", "report", "--sta"}),
              UnorderedElementsAre("--stall-factor", "--stall-floor"));
  EXPECT_THAT(offered({"goodput", "help", "ex"}), ElementsAre("export"));
}

TEST_F(Completion, BashOffersWordsFilesAndFoldersAsValues) {
  EXPECT_THAT(offered({"goodput", "export", "--format", ""}), UnorderedElementsAre("jsonl", "csv", "trace"));
  EXPECT_THAT(offered({"goodput", "report", "--input", "/etc/passw"}), Contains("/etc/passwd"));
  EXPECT_THAT(offered({"goodput", "report", "--dir", "/et"}), ElementsAre("/etc"));
  EXPECT_THAT(offered({"goodput", "report", "--price", ""}), IsEmpty());
  EXPECT_THAT(offered({"goodput", "run", "--", "--"}), Not(Contains("--quiet")));
}

TEST_F(Completion, BashKnowsEveryCommandOfThisProgram) {
  const std::string script = testing::run_captured({"completion", "bash"}, commands()).out;
  const std::vector<std::string> all = offered_by(script, {"goodput", ""});
  for (const Command& command : commands()) EXPECT_THAT(all, Contains(command.name));
  EXPECT_THAT(offered_by(script, {"goodput", "import", "--format", ""}), UnorderedElementsAre("payload", "gcloud"));
  EXPECT_THAT(offered_by(script, {"goodput", "recover", "--output", "/et"}), ElementsAre("/etc"));
  EXPECT_THAT(offered_by(script, {"goodput", "split", "--a"}), ElementsAre("--at"));
  EXPECT_THAT(offered_by(script, {"goodput", "end", "--f"}), ElementsAre("--failed"));
  EXPECT_THAT(offered_by(script, {"goodput", "simulate", "--se"}), ElementsAre("--seed"));
}

// Types into an interactive zsh that has the script, and returns what the terminal showed until `wanted` did, or until
// ten seconds were over.
std::string typed_into_zsh(const std::string& script, const std::string& keys, const std::string& wanted) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("goodput_zsh_{}", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "_goodput") << script;
  std::ofstream(folder / ".zshrc") << "fpath=(" << folder.string() << " $fpath)\n"
                                   << "autoload -Uz compinit && compinit -u -D\nPROMPT='ready> '\n";
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("ZDOTDIR", folder.c_str(), 1);
    setenv("TERM", "dumb", 1);
    execlp("zsh", "zsh", "-d", "-i", nullptr);
    _exit(127);
  }
  std::string shown;
  const auto read_until = [&](const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (shown.find(text) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
      pollfd ready{.fd = master, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, 100) <= 0) continue;
      char block[4096];
      const ssize_t got = read(master, block, sizeof block);
      if (got <= 0) break;
      shown.append(block, static_cast<size_t>(got));
      std::erase(shown, '\a');
    }
  };
  read_until("ready> ");
  EXPECT_EQ(write(master, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  read_until(wanted);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(master);
  std::filesystem::remove_all(folder);
  return shown;
}

TEST_F(Completion, ZshCompletesCommandsOptionsAndWords) {
  const std::string script = zsh_completion(root_);
  EXPECT_EQ(run("zsh -n", script), "");
  for (const auto& [keys, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"goodput rep\t", "goodput report"},
           {"goodput export --format tr\t", "--format trace"},
           {"goodput report --exclude-f\t", "--exclude-file"},
           {"goodput --dir / rep\t", "--dir / report"},
           {"goodput help exp\t", "help export"},
       }) {
    EXPECT_THAT(typed_into_zsh(script, keys, wanted), HasSubstr(wanted));
  }
}

TEST_F(Completion, ZshKnowsEveryCommandOfThisProgram) {
  const std::string script = testing::run_captured({"completion", "zsh"}, commands()).out;
  EXPECT_EQ(run("zsh -n", script), "");
  for (const auto& [keys, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"goodput disr\t", "goodput disruptions"},
           {"goodput import --format gc\t", "--format gcloud"},
           {"goodput simulate --jo\tu\t", "--journals"},
           {"goodput split --a\t", "--at"},
           {"goodput recover /etc/passw\t", "recover /etc/passwd"},
       }) {
    EXPECT_THAT(typed_into_zsh(script, keys, wanted), HasSubstr(wanted));
  }
}

}  // namespace
}  // namespace goodput::cli
