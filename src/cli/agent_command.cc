// `goodput agent`: ships what the jobs of this machine record to a store, and sees their trainers end.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

namespace goodput::cli {
namespace {

struct AgentOptions {
  std::string job;
  std::string to;
  std::string interval = "10s";
  std::string linger = "60s";
  std::string flush_timeout = "10s";
  bool once = false;
};

using RunKey = std::pair<std::string, std::string>;

/// One run, from the first look at it until it is over.
struct Tended {
  MonitorOptions options;
  MonitorPlan plan;
  std::unique_ptr<monitor::FollowedJob> job;
  std::optional<monitor::Monitor> monitor;
};

class Agent {
 public:
  Agent(Context& context, const AgentOptions& options, const MonitorOptions& of_each, const MonitorPlan& plan)
      : context_(context), options_(options), of_each_(of_each), plan_(plan) {}

  int run();

 private:
  void find_runs();
  void begin(const journal::RunEntry& run);
  void look();
  bool wait();
  void complain(const RunKey& run, const Status& status);

  Context& context_;
  const AgentOptions& options_;
  const MonitorOptions& of_each_;
  const MonitorPlan& plan_;
  SignalQueue signals_;
  std::map<RunKey, std::unique_ptr<Tended>> tended_;
  std::map<RunKey, int64_t> over_;  ///< when the latest journal of a run that is over was opened
  std::map<RunKey, std::string> complaints_;
  bool all_sent_ = true;
};

int Agent::run() {
  do {
    find_runs();
    look();
    if (!options_.job.empty() && tended_.empty() && !over_.empty()) break;  // the job that was named is over
  } while (!options_.once && wait());
  for (auto& [key, tended] : tended_) {
    if (!options_.once) (void)tended->monitor->cycle();  // the last word
    all_sent_ = tended->monitor->finish(plan_.flush_timeout_ns) && all_sent_;
    tell_failures(context_, "agent", *tended->monitor);
  }
  return all_sent_ ? kDone : kCannot;
}

void Agent::find_runs() {
  std::optional<std::string_view> named;
  if (!options_.job.empty()) named = options_.job;
  for (const journal::RunEntry& run : journal::list_runs(posix_file_system(), roots_of(context_), named)) {
    const RunKey key{run.job, run.run_id};
    const auto over = over_.find(key);
    if (tended_.contains(key) || (over != over_.end() && over->second == run.last_start_ns)) continue;
    begin(run);
  }
}

void Agent::begin(const journal::RunEntry& run) {
  const RunKey key{run.job, run.run_id};
  auto tended = std::make_unique<Tended>();
  tended->options = of_each_;
  tended->plan = plan_;
  const auto open = [&]() -> Status {
    ASSIGN_OR_RETURN(tended->job, follow_run(context_, {run.job, run.run_id}, {}));
    ASSIGN_OR_RETURN(auto sinks, open_sinks(context_, tended->plan, *tended->job));
    tended->monitor.emplace(*tended->job, std::move(sinks),
                            monitor_options(context_, tended->plan, tended->options, *tended->job), system_clock());
    return {};
  };
  const Status opened = open();
  if (!opened.ok()) return complain(key, opened);
  tended_.emplace(key, std::move(tended));
}

void Agent::look() {
  for (auto at = tended_.begin(); at != tended_.end();) {
    monitor::Monitor& monitor = *at->second->monitor;
    const Status cycle = monitor.cycle();
    // Opened, and nothing recorded in it yet.
    if (!cycle.ok() && cycle.code() != StatusCode::kNotFound) complain(at->first, cycle);
    if (!monitor.is_over()) {
      ++at;
      continue;
    }
    const auto runs = journal::list_runs(posix_file_system(), roots_of(context_), at->first.first);
    for (const journal::RunEntry& run : runs) {
      if (run.run_id == at->first.second) over_[at->first] = run.last_start_ns;
    }
    all_sent_ = monitor.finish(plan_.flush_timeout_ns) && all_sent_;
    at = tended_.erase(at);
  }
}

/// Until the next look is due; false when this is to end.
bool Agent::wait() {
  const auto has_news = [&] {
    return std::any_of(tended_.begin(), tended_.end(),
                       [](const auto& each) { return each.second->monitor->has_news(); });
  };
  const int64_t next_ns = boot_time_ns() + plan_.interval_ns;
  for (int64_t left_ns = plan_.interval_ns; left_ns > 0 && !has_news(); left_ns = next_ns - boot_time_ns()) {
    if (is_end(signals_.next(std::min(left_ns, kLookForNewsNs)))) return false;
  }
  return true;
}

/// Once in a row of the same.
void Agent::complain(const RunKey& run, const Status& status) {
  all_sent_ = all_sent_ && !options_.once;
  if (std::exchange(complaints_[run], status.message()) == status.message()) return;
  context_.note(fmt::format("goodput agent: job \"{}\": {}", run.first, status.message()));
}

int run_agent(Context& context, const AgentOptions& options) {
  const std::string& store = context.globals.store;
  const bool is_named = !options.to.empty() || store.starts_with(store::kCloudLoggingScheme);
  if (!is_named) {
    return context.fail("agent", Status(StatusCode::kInvalidArgument,
                                        "there is nowhere to ship to: give --to cloud-logging://PROJECT/LOG"));
  }
  MonitorOptions of_each;
  of_each.job = options.job;
  of_each.interval = options.interval;
  of_each.ship = options.to.empty() ? store : options.to;
  of_each.linger = options.linger;
  of_each.flush_timeout = options.flush_timeout;
  const Result<MonitorPlan> plan = resolve(of_each);
  if (!plan.ok()) return context.fail("agent", plan.status());
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
              "goodput agent --to cloud-logging://my-project/goodput --once",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<AgentOptions>();
            app.add_option("--job", options->job, "this job alone, until it is over; by default all, for ever")
                ->type_name("NAME");
            app.add_option("--to", options->to, "where to; by default the --store")->type_name("URL");
            app.add_option("--interval", options->interval, "time between two looks")
                ->type_name("DURATION")
                ->capture_default_str();
            app.add_option("--linger", options->linger, "how long to watch on after a job has ended")
                ->type_name("DURATION")
                ->capture_default_str();
            app.add_option("--flush-timeout", options->flush_timeout, "how long the last word may take at the end")
                ->type_name("DURATION")
                ->capture_default_str();
            app.add_flag("--once", options->once, "ship what there is, and end");
            return [options](Context& context) { return run_agent(context, *options); };
          }};
}

}  // namespace goodput::cli
