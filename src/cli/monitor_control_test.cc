// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>

namespace goodput::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

Uploader started(std::string_view line) {
  Result<MonitorCommand> command = parse_monitor_command(line);
  EXPECT_TRUE(command.ok()) << command.status().message();
  return command.ok() ? std::get<Uploader>(*command) : Uploader{};
}

TEST(MonitorCommand, StartsAnUploaderOfTheFiguresThatAreNamed) {
  const Uploader goodput = started(
      R"({"start": "a", "figures": ["goodput", "badput"], "interval_seconds": 30, "ideal_step_seconds": null})");
  EXPECT_EQ(goodput.name, "a");
  EXPECT_EQ(goodput.interval_ns, 30 * kSecond);
  EXPECT_EQ(goodput.figures, (exporters::Figures{.windows = false, .steps = false}));
  const Uploader steps =
      started(R"({"start": "b", "figures": ["steps"], "interval_seconds": 0, "ideal_step_seconds": 1.5})");
  EXPECT_EQ(steps.interval_ns, kSecond / 10);
  EXPECT_EQ(steps.figures.ideal_step_seconds, 1.5);
  EXPECT_FALSE(steps.figures.goodput);
  const Uploader windows =
      started(R"({"start": "c", "figures": ["windows"], "interval_seconds": 1, "windows_seconds": [60, 3600]})");
  EXPECT_THAT(windows.windows_ns, ElementsAre(60 * kSecond, 3600 * kSecond));
}

TEST(MonitorCommand, StopsWithALastLookUnlessToldOtherwise) {
  const auto stop = [](std::string_view line) { return std::get<StopUploader>(parse_monitor_command(line).value()); };
  EXPECT_TRUE(stop(R"({"stop": "a", "timeout_seconds": 2.5})").flushes);
  EXPECT_EQ(stop(R"({"stop": "a", "timeout_seconds": 2.5})").timeout_ns, kSecond * 5 / 2);
  EXPECT_FALSE(stop(R"({"stop": "a", "flush": false})").flushes);
  EXPECT_EQ(stop(R"({"stop": "a", "timeout_seconds": null})").timeout_ns, 1'000'000'000 * kSecond);
}

TEST(MonitorCommand, SaysWhatIsWrongWithALine) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "no JSON object"},
      {"null", "no JSON object"},
      {"[1]", "no JSON object"},
      {R"({"start": "a")", "no JSON object"},
      {"{}", "neither starts nor stops"},
      {R"({"start": 5})", "\"start\" is no name"},
      {R"({"start": "a"})", "\"figures\" is no list"},
      {R"({"start": "a", "figures": ["all"], "interval_seconds": 1})", "no figures \"all\""},
      {R"({"start": "a", "figures": [null], "interval_seconds": 1})", "no figures null"},
      {R"({"start": "a", "figures": []})", "\"interval_seconds\" is not given"},
      {R"({"start": "a", "figures": [], "interval_seconds": "1"})", "\"interval_seconds\" is no duration"},
      {R"({"start": "a", "figures": [], "interval_seconds": -1})", "\"interval_seconds\" is no duration"},
      {R"({"start": "a", "figures": [], "interval_seconds": 1e300})", "\"interval_seconds\" is no duration"},
      {R"({"start": "a", "figures": [], "interval_seconds": 1, "windows_seconds": 5})",
       "\"windows_seconds\" is no list"},
      {R"({"start": "a", "figures": [], "interval_seconds": 1, "windows_seconds": [0]})", "longer than 0"},
      {R"({"start": "a", "figures": [], "interval_seconds": 1, "windows_seconds": [null]})", "longer than 0"},
      {R"({"stop": "a", "timeout_seconds": true})", "\"timeout_seconds\" is no duration"},
      {R"({"stop": "a", "flush": 1})", "\"flush\" is neither"},
  };
  for (const auto& [line, what] : kWrong) {
    const Result<MonitorCommand> command = parse_monitor_command(line);
    ASSERT_FALSE(command.ok()) << line;
    EXPECT_EQ(command.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(command.status().message(), HasSubstr(what)) << line;
  }
}

TEST(MonitorCommand, AnyBytesAreRefusedOrRead) {
  std::mt19937 random(7);
  const std::string valid = R"({"start": "a", "figures": ["windows"], "interval_seconds": 1, "windows_seconds": [60]})";
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = valid;
    for (int change = 0; change < 3; ++change) line[random() % line.size()] = static_cast<char>(random());
    refused += parse_monitor_command(line).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 10'000);
}

TEST(MonitorAnswer, IsALineOfJsonWhateverTheName) {
  report::Report latest;
  latest.goodput_percent = 12.5;
  latest.max_productive_step = 7;
  const std::string name = "a\n\xff\"";
  for (const std::string& answer :
       {started_answer(name), refused_answer(name), stopped_answer(name, true, name, &latest)}) {
    EXPECT_EQ(answer.find('\n'), answer.size() - 1);
    EXPECT_TRUE(nlohmann::json::parse(answer).is_object());
  }
  const auto stopped = nlohmann::json::parse(stopped_answer("a", true, "", &latest));
  EXPECT_EQ(stopped["goodput_percent"], 12.5);
  EXPECT_EQ(stopped["max_productive_step"], 7);
}

class Link : public testing::Test {
 protected:
  Link() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
    sigset_t said_that_something_came;
    sigemptyset(&said_that_something_came);
    sigaddset(&said_that_something_came, SIGIO);
    sigprocmask(SIG_BLOCK, &said_that_something_came, nullptr);
  }
  ~Link() override { hang_up(); }
  void say(std::string_view bytes) const {
    ASSERT_EQ(::send(ends_[0], bytes.data(), bytes.size(), 0), std::ssize(bytes));
  }
  void hang_up() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  std::string heard() const {
    char bytes[4096];
    const ssize_t got = ::recv(ends_[0], bytes, sizeof(bytes), MSG_DONTWAIT);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }

  int ends_[2] = {-1, -1};
};

TEST_F(Link, GivesWholeLinesOnly) {
  ControlLink link(ends_[1]);
  EXPECT_THAT(link.read(), IsEmpty());
  say("one\ntw");
  EXPECT_THAT(link.read(), ElementsAre("one"));
  say("o\n\nthree\n");
  EXPECT_THAT(link.read(), ElementsAre("two", "", "three"));
  EXPECT_FALSE(link.is_closed());
}

TEST_F(Link, WhatWasSaidBeforeHangingUpIsHeard) {
  ControlLink link(ends_[1]);
  say("last\n");
  hang_up();
  EXPECT_THAT(link.read(), ElementsAre("last"));
  EXPECT_TRUE(link.is_closed());
  link.tell("nobody hears\n");
}

TEST_F(Link, TellsAndDoesNotWaitForWhoDoesNotListen) {
  ControlLink link(ends_[1]);
  link.tell("answer\n");
  EXPECT_EQ(heard(), "answer\n");
  for (int i = 0; i < 10'000; ++i) link.tell(std::string(1000, 'x') + "\n");
  EXPECT_FALSE(link.is_closed());
}

TEST_F(Link, AnEndlessLineEndsIt) {
  ControlLink link(ends_[1]);
  for (int i = 0; i < 20 && !link.is_closed(); ++i) {
    say(std::string(4096, 'x'));
    EXPECT_THAT(link.read(), IsEmpty());
  }
  EXPECT_TRUE(link.is_closed());
}

TEST(ControlLinkOfNothing, IsClosed) { EXPECT_TRUE(ControlLink(997).is_closed()); }

}  // namespace
}  // namespace goodput::cli
