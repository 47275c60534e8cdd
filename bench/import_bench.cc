// Payload JSON: the whole `goodput report --input FILE`, process start included, against Python's json.loads over the
// lines of the same file, interpreter start and reading the file left out. Once for a log as the incumbent writes it,
// once for an export of ours, whose entries carry who recorded and where they stand. For information: reading alone,
// and the import, in this process.
//
//   build/release/bench/import_bench [GOODPUT]      the executable; build/release/goodput if not given
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/status.h"
#include "event/export/jsonl_export.h"
#include "event/payload.h"
#include "harness.h"
#include "importers/entry_reader.h"
#include "importers/imported_log.h"
#include "simulate/simulation.h"

extern char** environ;

namespace goodput::bench {
namespace {

constexpr int64_t kSteps = 100'000;         // 302,000 lines
constexpr const char* kNow = "1767400000";  // after the end of the job

constexpr const char* kPython = R"(
import json, sys, time
lines = open(sys.argv[1]).read().splitlines()
start = time.perf_counter_ns()
for line in lines: json.loads(line)
print(time.perf_counter_ns() - start)
)";

/// A log on disk, and how many lines it has.
struct Log {
  std::string path;
  double lines = 0;
};

Log write_log(const std::string& path, bool with_identity) {
  simulate::Options options = simulate::measured_job(kSteps);
  options.origins = with_identity;
  event::JsonlExport lines("llama-7b", {.with_position = with_identity});
  std::ofstream file(path, std::ios::binary);
  Log log{.path = path};
  std::string text;
  simulate::Simulation(options).run([&](std::span<const event::Event> events) {
    text.clear();
    lines.append(events, text);
    file << text;
    log.lines += static_cast<double>(events.size());
    return true;
  });
  return log;
}

double report_ns(const std::string& executable, const Log& log) {
  const char* const arguments[] = {executable.c_str(), "report", "--input", log.path.c_str(), "--now", kNow,
                                   "--json",           nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double start_ns = monotonic_ns();
  pid_t child = 0;
  const int error = posix_spawn(&child, executable.c_str(), &actions, nullptr, const_cast<char**>(arguments), environ);
  int status = -1;
  if (error == 0) waitpid(child, &status, 0);
  const double took_ns = monotonic_ns() - start_ns;
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0 || status != 0) {
    std::fprintf(stderr, "running %s report --input %s: %s\n", executable.c_str(), log.path.c_str(),
                 error != 0 ? std::strerror(error) : "it failed");
    std::exit(1);
  }
  return took_ns;
}

double json_loads_ns(const std::string& script, const Log& log) {
  FILE* const pipe = popen(("python3 " + script + " " + log.path).c_str(), "r");
  CHECK(pipe != nullptr);
  double took_ns = 0;
  CHECK(std::fscanf(pipe, "%lf", &took_ns) == 1);
  CHECK(pclose(pipe) == 0);
  return took_ns;
}

/// Lines cut and payloads read into events, and nothing done with them.
double read_ns(const Log& log) {
  const double start_ns = monotonic_ns();
  Result<importers::InputFile> input = importers::InputFile::open(log.path);
  CHECK(input.ok());
  importers::EntryReader entries(*input, importers::kMaxEntryBytes);
  event::PayloadReader reader;
  double events = 0;
  for (importers::Entry entry;;) {
    const Result<bool> more = entries.next(entry);
    CHECK(more.ok());
    if (!*more) break;
    if (reader.read(entry.text).verdict == event::Verdict::kEvent) ++events;
  }
  CHECK(events == log.lines);
  return monotonic_ns() - start_ns;
}

double import_ns(const Log& log) {
  const double start_ns = monotonic_ns();
  const auto imported = importers::import_log(log.path, {});
  CHECK(imported.ok() && static_cast<double>((*imported)->events()) == log.lines);
  return monotonic_ns() - start_ns;
}

int run(const std::string& executable) {
  if (::access(executable.c_str(), X_OK) != 0) {
    std::fprintf(stderr, "running %s: %s\n", executable.c_str(), std::strerror(errno));
    return 1;
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "goodput-import-bench";
  std::filesystem::create_directories(folder);
  const std::string script = folder / "loads.py";
  std::ofstream(script) << kPython;
  Table table;
  for (const bool with_identity : {false, true}) {
    const Log log = write_log(folder / "events.jsonl", with_identity);
    const std::vector<double> cost =
        alternate({[&] { return report_ns(executable, log); }, [&] { return json_loads_ns(script, log); },
                   [&] { return import_ns(log); }, [&] { return read_ns(log); }});
    const std::string of = with_identity ? ", of an export" : "";
    const auto add = [&](const char* what, double ours_ns, double bar) {
      table.add({what + of, ours_ns / cost[1], bar, "json.loads of its lines",
                 Table::format("%.0f against %.0f ns a line", ours_ns / log.lines, cost[1] / log.lines)});
    };
    add("payload JSON: the whole report --input", cost[0], 0.25);
    add("payload JSON: imported", cost[2], 0);
    add("payload JSON: read", cost[3], 0);
  }
  std::filesystem::remove_all(folder);
  return table.exit_code();
}

}  // namespace
}  // namespace goodput::bench

int main(int count, char** arguments) {
  return goodput::bench::run(count > 1 ? arguments[1] : "build/release/goodput");
}
