// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/exit_code.h"
#include "cli/testing/capture.h"

namespace goodput::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::run_captured;
using testing::ScopedEnvironment;
using ::testing::StartsWith;

// A command that says what it was given.
Command probe_command() {
  return {.name = "probe",
          .group = kAsk,
          .summary = "says what it was given",
          .examples = "goodput probe --size 3",
          .define = [](CLI::App& app) -> Run {
            auto size = std::make_shared<std::string>("unset");
            auto many = std::make_shared<std::vector<std::string>>();
            auto word = std::make_shared<std::string>();
            app.add_option("word", *word, "any word")->type_name("WORD");
            app.add_option("--size", *size, "a size")->type_name("NUMBER")->envname("GOODPUT_SIZE");
            app.add_option("--many", *many, "some")->type_name("WORD")->allow_extra_args(false);
            return [size, many, word](Context& context) {
              const Globals& globals = context.globals;
              return context.print(fmt::format("dir={} json={} quiet={} size={} many={}{}\n", globals.dir, globals.json,
                                               globals.quiet, *size, fmt::join(*many, ","), *word));
            };
          }};
}

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() : folder_(std::filesystem::temp_directory_path() / fmt::format("goodput_cli_{}", getpid())) {
    std::filesystem::create_directories(folder_ / "goodput");
  }
  ~CommandLineTest() override { std::filesystem::remove_all(folder_); }

  void configure(const std::string& text) { std::ofstream(folder_ / "goodput" / "config.toml") << text; }
  Outcome run(const std::vector<std::string>& arguments) {
    const ScopedEnvironment home("XDG_CONFIG_HOME", folder_.c_str());
    std::vector<Command> all = commands();
    all.push_back(probe_command());
    return run_captured(arguments, all);
  }

  std::filesystem::path folder_;
};

TEST_F(CommandLineTest, FlagStandsOverEnvironmentOverConfiguration) {
  EXPECT_EQ(run({"probe"}).out, "dir= json=false quiet=false size=unset many=\n");
  configure("dir = '/of/config'\n[probe]\nsize = 1\n");
  EXPECT_EQ(run({"probe"}).out, "dir=/of/config json=false quiet=false size=1 many=\n");
  const ScopedEnvironment dir("GOODPUT_DIR", "/of/environment");
  const ScopedEnvironment size("GOODPUT_SIZE", "2");
  EXPECT_EQ(run({"probe"}).out, "dir=/of/environment json=false quiet=false size=2 many=\n");
  EXPECT_EQ(run({"probe", "--dir", "/of/flag", "--size", "3"}).out,
            "dir=/of/flag json=false quiet=false size=3 many=\n");
  EXPECT_EQ(run({"--dir=/of/flag", "probe"}).out, "dir=/of/flag json=false quiet=false size=2 many=\n");
}

TEST_F(CommandLineTest, ConfigurationGivesFlagsAndLists) {
  configure("json = true\nquiet = false\n[probe]\nmany = ['a', 'b']\n");
  EXPECT_EQ(run({"probe"}).out, "dir= json=true quiet=false size=unset many=a,b\n");
  EXPECT_EQ(run({"probe", "--many", "c", "--many", "d"}).out, "dir= json=true quiet=false size=unset many=c,d\n");
}

TEST_F(CommandLineTest, KeyAtTheTopServesEveryCommandThatHasTheOption) {
  configure("size = 7\n");
  EXPECT_EQ(run({"probe"}).out, "dir= json=false quiet=false size=7 many=\n");
}

TEST_F(CommandLineTest, AfterACommandItsNameIsAWordLikeAnyOther) {
  EXPECT_EQ(run({"probe", "probe"}).out, "dir= json=false quiet=false size=unset many=probe\n");
  EXPECT_EQ(run({"probe", "version"}).out, "dir= json=false quiet=false size=unset many=version\n");
}

TEST_F(CommandLineTest, ConfigurationMistakesAreTold) {
  configure("diir = 'x'\n[probe]\nsise = 1\n[of-another-version]\nx = 1\n");
  const Outcome unknown = run({"probe"});
  EXPECT_EQ(unknown.code, kDone);
  EXPECT_THAT(unknown.err, HasSubstr("`diir` is no option and was ignored"));
  EXPECT_THAT(unknown.err, HasSubstr("`probe.sise` is no option and was ignored"));
  EXPECT_THAT(unknown.err, Not(HasSubstr("another-version")));
  EXPECT_EQ(run({"probe", "--quiet"}).err, "");
  configure("dir = [\n");
  const Outcome broken = run({"probe"});
  EXPECT_EQ(broken.code, kUsage);
  EXPECT_THAT(broken.err, HasSubstr("config.toml: line"));
  configure("quiet = 'perhaps'\n");
  EXPECT_EQ(run({"probe"}).code, kUsage);
  EXPECT_EQ(run({"probe", "--config", "/nowhere.toml"}).code, kCannot);
  EXPECT_EQ(run({"probe", "--config", "/"}).err, "goodput probe: reading /: Is a directory\n");
}

TEST_F(CommandLineTest, MistakesAreOneSentenceAndUsage) {
  struct Case {
    std::vector<std::string> arguments;
    const char* err;
  };
  for (const Case& c : {
           Case{{"prbe"}, "goodput: there is no command `prbe`; did you mean `probe`?\n"},
           Case{{"xyzzy"}, "goodput: there is no command `xyzzy`; see `goodput --help`\n"},
           Case{{"probe", "--sise", "3"}, "goodput probe: there is no option `--sise`; did you mean `--size`?\n"},
           Case{{"version", "stray"}, "goodput version: `stray` is one word too many; see `goodput version --help`\n"},
           Case{{"--quiet"}, "goodput: name a command: `goodput help` lists them\n"},
           Case{{"help", "nope"}, "goodput help: there is no command `nope`; `goodput help` lists them\n"},
           Case{{"\x1b[2J"}, "goodput: there is no command `\\x1b[2J`; see `goodput --help`\n"},
       }) {
    const Outcome outcome = run(c.arguments);
    EXPECT_EQ(outcome.code, kUsage);
    EXPECT_EQ(outcome.err, c.err);
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CommandLineTest, HelpListsWhatThereIsByGroup) {
  const Outcome help = run({"help"});
  EXPECT_EQ(help.code, kDone);
  EXPECT_THAT(help.out, HasSubstr("\n  Ask\n    report                    where a job's time went\n"));
  EXPECT_THAT(help.out, HasSubstr("\n    probe                     says what it was given\n"));
  EXPECT_THAT(help.out, HasSubstr("--dir DIR                 where journals are kept [GOODPUT_DIR]"));
  EXPECT_THAT(help.out, HasSubstr("\n  Examples\n    goodput run --job llama-7b -- python train.py\n"));
  EXPECT_THAT(help.out, HasSubstr("\n    goodput probe --size 3\n"));
  EXPECT_EQ(run({"--help"}).out, help.out);
  EXPECT_EQ(run({}).out, help.out);
  EXPECT_EQ(run({}).code, kUsage);
}

TEST_F(CommandLineTest, HelpOfACommandShowsItsOptions) {
  const Outcome help = run({"help", "probe"});
  EXPECT_THAT(help.out, StartsWith("  Says what it was given.\n\n  Usage: goodput probe [WORD] [OPTION]"));
  EXPECT_THAT(help.out, HasSubstr("--size NUMBER             a size [GOODPUT_SIZE]"));
  EXPECT_THAT(help.out, HasSubstr("--many WORD               some (may be given several times)"));
  EXPECT_EQ(run({"probe", "-h"}).out, help.out);
}

TEST_F(CommandLineTest, VersionIsToldInBothForms) {
  EXPECT_THAT(run({"version"}).out, StartsWith("goodput 0."));
  EXPECT_EQ(run({"--version"}).out, run({"version"}).out);
  EXPECT_THAT(run({"version", "--json"}).out, HasSubstr(R"("semantics":1,"report":"goodput.report/1"})"));
}

TEST_F(CommandLineTest, OutputThatCannotBeWrittenIsCannot) {
  FILE* full = std::fopen("/dev/full", "w");
  FILE* err = std::tmpfile();
  EXPECT_EQ(run_command_line({"version"}, commands(), full, err), kCannot);
  std::fclose(full);
  std::fclose(err);
}

TEST(ExitCodes, FollowTheStatus) {
  EXPECT_EQ(exit_code_of(StatusCode::kOk), 0);
  EXPECT_EQ(exit_code_of(StatusCode::kNotFound), 1);
  EXPECT_EQ(exit_code_of(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(exit_code_of(StatusCode::kUnreadable), 3);
  EXPECT_EQ(exit_code_of(StatusCode::kPermissionDenied), 3);
  EXPECT_EQ(exit_code_of(StatusCode::kInternal), 3);
}

}  // namespace
}  // namespace goodput::cli
