// `goodput agent`: ships what the jobs of this machine record to a store, and sees their trainers end.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/monitor_options.h"
#include "cli/monitor_sinks.h"
#include "cli/monitor_start.h"
#include "cli/run/signal_queue.h"
#include "journal/run_folder.h"
#include "monitor/monitor.h"
#include "store/cloud_logging/log_project.h"

namespace goodput::cli {
namespace {

using journal::RunName;

struct AgentOptions {
  std::string job;
  std::string to;
  std::string interval = "10s";
  std::string linger = "60s";
  std::string flush_timeout = "10s";
  bool once = false;
  bool by_recorder = false;
};

// A recorder starts its agent when it has opened its journal; what it waits for is there at once or never comes.
constexpr int64_t kPatienceNs = 30'000'000'000;
constexpr int64_t kAskAgainNs = 2'000'000'000;
// After the end of the one job that it is for: as long as outages last, and not for ever where a right is missing.
constexpr int64_t kStayForUnsentNs = 3'600'000'000'000;

/// One run, from the first look at it until it is over.
struct Tended {
  std::unique_ptr<monitor::FollowedJob> job;
  std::optional<monitor::Monitor> monitor;
  int64_t last_start_ns = 0;              ///< when its latest journal was opened, as it was last listed
  int64_t over_boot_ns = boot_time_ns();  ///< when it was last seen not to be over
};

class Agent {
 public:
  Agent(Context& context, const AgentOptions& options, const MonitorOptions& of_each, const MonitorPlan& plan)
      : context_(context), options_(options), of_each_(of_each), plan_(plan) {}

  int run();

 private:
  void find_runs();
  void begin(const RunName& run);
  void look();
  bool wait();
  void let_go(monitor::Monitor& monitor);
  void wait_while_all_goes_well();
  void finish_all();
  bool is_done();
  void complain(const RunName& run, const Status& status);

  Context& context_;
  const AgentOptions& options_;
  const MonitorOptions& of_each_;
  const MonitorPlan& plan_;
  SignalQueue signals_;
  std::map<RunName, std::unique_ptr<Tended>> tended_;
  std::map<RunName, int64_t> over_;  ///< runs that are, with the start of the latest journal that they had then
  std::map<RunName, std::string> complaints_;
  bool all_sent_ = true;
  bool is_refused_ = false;  ///< another agent ships a run there
  const int64_t began_boot_ns_ = boot_time_ns();
};

int Agent::run() {
  do {
    find_runs();
    look();
    if (is_done()) break;
  } while (!options_.once && wait());
  finish_all();
  return all_sent_ ? kDone : kCannot;
}

/// A long job takes longer than the end may: as long as nothing fails there is no hurry.
void Agent::wait_while_all_goes_well() {
  const auto goes_well = [](const auto& each) {
    const auto& pipes = each.second->monitor->pipes();
    return each.second->monitor->has_unsent() && std::all_of(pipes.begin(), pipes.end(), [](const auto& pipe) {
             return pipe->counters().last_failure.empty();
           });
  };
  while (std::any_of(tended_.begin(), tended_.end(), goes_well)) {
    if (is_end(signals_.next(kLookForNewsNs))) return;
  }
}

/// All at once: whoever stops an agent waits for one of them, however many there are.
void Agent::finish_all() {
  if (options_.once) wait_while_all_goes_well();
  std::vector<std::thread> ends;
  std::vector<char> all_sent(tended_.size(), 0);
  for (auto& [run, tended] : tended_) {
    monitor::Monitor* const monitor = &*tended->monitor;
    if (!options_.once) (void)monitor->cycle();  // the last word
    ends.emplace_back(
        [this, monitor, &sent = all_sent[ends.size()]] { sent = monitor->finish(plan_.flush_timeout_ns); });
  }
  for (std::thread& end : ends) end.join();
  for (const auto& [run, tended] : tended_) tell_failures(context_, "agent", *tended->monitor);
  all_sent_ = all_sent_ && std::all_of(all_sent.begin(), all_sent.end(), [](char sent) { return sent != 0; });
}

/// Of an agent of one job: whether that is over, or another agent's.
bool Agent::is_done() {
  if (options_.job.empty() || !tended_.empty()) return false;
  // A trainer that began meanwhile was refused an agent of its own while this one held the sink.
  if (!over_.empty()) find_runs();
  if (!tended_.empty()) return false;
  if (!over_.empty()) return true;
  return options_.by_recorder && (is_refused_ || boot_time_ns() - began_boot_ns_ > kPatienceNs);
}

void Agent::find_runs() {
  std::optional<std::string_view> named;
  if (!options_.job.empty()) named = options_.job;
  for (const journal::RunEntry& run : journal::list_runs(posix_file_system(), roots_of(context_), named)) {
    const RunName name{run.job, run.run_id};
    const auto over = over_.find(name);
    if (over != over_.end() && over->second == run.last_start_ns) continue;
    if (!tended_.contains(name)) begin(name);
    if (const auto tended = tended_.find(name); tended != tended_.end()) {
      tended->second->last_start_ns = run.last_start_ns;
    }
  }
}

void Agent::begin(const RunName& run) {
  auto tended = std::make_unique<Tended>();
  const auto open = [&]() -> Status {
    ASSIGN_OR_RETURN(tended->job, follow_run(context_, run, {}));
    ASSIGN_OR_RETURN(auto sinks, open_sinks(context_, plan_, *tended->job));
    tended->monitor.emplace(*tended->job, std::move(sinks), monitor_options(context_, plan_, of_each_, *tended->job),
                            system_clock());
    return {};
  };
  const Status opened = open();
  if (opened.code() == StatusCode::kAlreadyExists && options_.by_recorder) {
    is_refused_ = true;
    return;
  }
  if (!opened.ok()) return complain(run, opened);
  tended_.emplace(run, std::move(tended));
}

void Agent::look() {
  for (auto at = tended_.begin(); at != tended_.end();) {
    const auto& [run, tended] = *at;
    const bool has_unsent = tended->monitor->has_unsent();  // of earlier looks
    const Status cycle = tended->monitor->cycle();
    // Opened, and nothing recorded in it yet.
    if (!cycle.ok() && cycle.code() != StatusCode::kNotFound) complain(run, cycle);
    // What could not be shipped yet is tried on: nobody comes after us who would. That of one job ends some time.
    // And what is still to come, of a trainer that goes on after a job's end or begins slowly, has nobody else either.
    const bool is_over = tended->monitor->is_over() && !tended->monitor->is_being_recorded();
    if (!is_over) tended->over_boot_ns = boot_time_ns();
    const bool has_time = options_.job.empty() || boot_time_ns() - tended->over_boot_ns < kStayForUnsentNs;
    if (!is_over || (has_unsent && has_time)) {
      ++at;
      continue;
    }
    let_go(*tended->monitor);
    over_[run] = tended->last_start_ns;
    at = tended_.erase(at);
  }
}

void Agent::let_go(monitor::Monitor& monitor) {
  all_sent_ = monitor.finish(plan_.flush_timeout_ns) && all_sent_;
  tell_failures(context_, "agent", monitor);
}

/// Until the next look is due; false when this is to end.
bool Agent::wait() {
  return wait_for_look(signals_, plan_.interval_ns, [&] {
    return std::any_of(tended_.begin(), tended_.end(),
                       [](const auto& each) { return each.second->monitor->has_news(); });
  });
}

/// Once in a row of the same.
void Agent::complain(const RunName& run, const Status& status) {
  all_sent_ = all_sent_ && !options_.once;
  if (std::exchange(complaints_[run], status.message()) == status.message()) return;
  context_.note(fmt::format("goodput agent: job \"{}\": {}", run.job, status.message()));
}

/// A machine's metadata server may come up after its first programs: an agent that nobody watches has time for it.
Result<store::LogAddress> find_log(const store::LogAddress& address, const AgentOptions& options) {
  const int64_t until_ns = boot_time_ns() + kPatienceNs;
  while (true) {
    Result<store::LogAddress> found = store::with_project(address);
    const bool may_come = options.by_recorder && found.status().code() == StatusCode::kNotFound;
    if (!may_come || boot_time_ns() >= until_ns) return found;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kAskAgainNs));
  }
}

int run_agent(Context& context, const AgentOptions& options) {
  if (options.by_recorder) close_all_but(-1);
  const Globals& globals = context.globals;
  const std::string usual = globals.store.empty() ? globals.usual_store : globals.store;
  const std::string to = options.to.empty() ? usual : options.to;
  if (!is_named_store(to)) {
    return context.fail(
        "agent", Status(StatusCode::kInvalidArgument,
                        "there is nowhere to ship to: give --to cloud-logging://PROJECT/LOG or gs://BUCKET/FOLDER"));
  }
  const Status address = check_ship_address(to);
  if (!address.ok()) return context.fail("agent", address);
  MonitorOptions of_each;
  of_each.job = options.job;
  of_each.interval = options.interval;
  of_each.ship = to;
  of_each.linger = options.linger;
  of_each.flush_timeout = options.flush_timeout;
  Result<MonitorPlan> plan = resolve(of_each);
  if (!plan.ok()) return context.fail("agent", plan.status());
  if (plan->ship.has_value()) {
    const Result<store::LogAddress> log = find_log(*plan->ship, options);
    if (!log.ok()) {
      const int code = context.fail("agent", log.status());
      return options.by_recorder ? kDone : code;
    }
    plan->ship = *log;
  }
  keep_quiet();
  return Agent(context, options, of_each, *plan).run();
}

}  // namespace

Command agent_command() {
  return {.name = "agent",
          .group = kWatch,
          .summary = "ship what this machine's jobs record to a store",
          .examples =
              "goodput agent --to cloud-logging://my-project/goodput\n"
              "goodput agent --job llama-7b --to cloud-logging://my-project/goodput_llama-7b\n"
              "goodput agent --to gs://my-bucket/goodput\n"
              "goodput agent --to cloud-logging://my-project/goodput --once",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<AgentOptions>();
            app.add_option("--job", options->job, "this job alone, until it is over; by default all, for ever")
                ->type_name("NAME");
            app.add_option("--to", options->to, "where to; by default the --store")->type_name("URL");
            // Variables: nobody gives options to the agent that a recorder starts.
            app.add_option("--interval", options->interval, "time between two looks")
                ->type_name("DURATION")
                ->envname("GOODPUT_AGENT_INTERVAL")
                ->capture_default_str();
            app.add_option("--linger", options->linger, "how long to watch on after a job has ended")
                ->type_name("DURATION")
                ->envname("GOODPUT_AGENT_LINGER")
                ->capture_default_str();
            app.add_option("--flush-timeout", options->flush_timeout, "how long the last word may take at the end")
                ->type_name("DURATION")
                ->envname("GOODPUT_AGENT_FLUSH_TIMEOUT")
                ->capture_default_str();
            app.add_flag("--once", options->once, "ship what there is, and end");
            // For recorders only: where there is no project, or another agent has the job, there is nothing to do.
            app.add_flag("--by-recorder", options->by_recorder, "started by a recorder")->group("");
            return [options](Context& context) { return run_agent(context, *options); };
          }};
}

}  // namespace goodput::cli
