// Promises of an engine, checked against the reference.
// SPDX-License-Identifier: Apache-2.0
#include "property/checks.h"

#include <algorithm>
#include <cmath>

#include "reference/histories.h"

namespace goodput::property {
namespace {

using reference::Chance;

Options options_for(uint64_t seed) {
  Chance chance(seed ^ 0x6F7074696F6E73);
  Options options;
  if (chance.happens(0.8)) return options;
  options.dead_after_ns = chance.one_of<int64_t>({0, 30, 600}) * reference::kSecond;
  options.stall_factor = chance.one_of<int>({0, 2, 10, 100});
  options.stall_floor_ns = chance.one_of<int64_t>({0, 1, 60, 3'600}) * reference::kSecond;
  return options;
}

/// Names that the engine does not answer are not held against it, but it answers something.
Figures answered(const Figures& want, const Figures& got) {
  Figures both;
  for (const auto& [name, figure] : want) {
    // Of an object that the engine has, every name counts.
    const size_t dot = name.rfind('.');
    const std::string parent = dot == std::string::npos ? name : name.substr(0, dot + 1);
    if (got.contains(name) || (parent != name && got.contains(parent))) both[name] = figure;
  }
  return both;
}

Lines compare(const std::string& where, const Figures& want, const Figures& got) {
  Lines lines;
  if (want.empty() && got.empty()) return {};
  if (want.empty() != got.empty()) return {where + (got.empty() ? ": no answer" : ": an answer without a job")};
  for (const std::string& line : golden::differences(answered(want, got), got, kToleranceSeconds)) {
    lines.push_back(where + ": " + line);
  }
  for (const std::string& line : conservation(got)) lines.push_back(where + ": " + line);
  return lines;
}

void append(Lines& to, const Lines& lines) { to.insert(to.end(), lines.begin(), lines.end()); }

/// The reference's answer about these events, given to it in the order of the log.
Figures reference_answer(Events events, Options options, int64_t now_ns) {
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.position < b.position; });
  ReferenceEngine reference(std::move(options));
  reference.add(events);
  return reference.figures(now_ns);
}

/// A time of some event, or near one, or anywhere.
int64_t random_edge(const Events& events, int64_t now_ns, Chance& chance) {
  const event::Event& event = events[chance.below(events.size())];
  switch (chance.below(4)) {
    case 0:
      return event.time_ns;
    case 1:
      return event.time_ns + static_cast<int64_t>(chance.below(3)) - 1;
    case 2:
      return event.time_ns + static_cast<int64_t>(chance.real() * 1e11 - 5e10);
    default:
      return now_ns - static_cast<int64_t>(chance.real() * 1e12);
  }
}

std::pair<int64_t, int64_t> random_interval(const Events& events, int64_t now_ns, Chance& chance) {
  const int64_t a = random_edge(events, now_ns, chance), b = random_edge(events, now_ns, chance);
  const bool reversed = a > b && chance.happens(0.8);
  return reversed ? std::pair(b, a) : std::pair(a, b);
}

Lines poll(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed, double resume_share) {
  Chance chance(seed ^ 0x706F6C6C);
  const Options options = options_for(seed);
  const Events arrival = chance.happens(0.3) ? events : reference::shuffled(events, chance.next());
  const size_t batch_most = chance.one_of<size_t>({1, 10, 50, events.size() + 1});
  // About ten answers per history, two of a long one: each is a cold one of the reference.
  const double answers = events.size() > 1'000 ? 2 : 10;
  const double ask_share = answers * (1 + static_cast<double>(batch_most)) / 2 / static_cast<double>(events.size());
  std::unique_ptr<Engine> engine = make(options);
  Lines lines;
  for (size_t at = 0; at < arrival.size() && lines.empty();) {
    const size_t count = std::min(arrival.size() - at, 1 + static_cast<size_t>(chance.below(batch_most)));
    const std::span<const event::Event> batch(arrival.data() + at, count);
    engine->add(batch);
    at += count;
    if (chance.happens(resume_share)) engine = engine->resumed();
    const bool last = at == arrival.size();
    if (!last && !chance.happens(ask_share)) continue;
    const int64_t asked_ns = last || chance.happens(0.5) ? now_ns : batch.back().time_ns;
    const auto arrived = arrival.begin() + static_cast<std::ptrdiff_t>(at);
    const Figures want = reference_answer({arrival.begin(), arrived}, options, asked_ns);
    append(lines, compare("after " + std::to_string(at) + " events", want, engine->figures(asked_ns)));
  }
  return lines;
}

}  // namespace

Lines cold_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed) {
  const Options options = options_for(seed);
  const std::unique_ptr<Engine> engine = make(options);
  engine->add(events);
  return compare("cold", reference_answer(events, options, now_ns), engine->figures(now_ns));
}

Lines every_poll_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed) {
  return poll(make, events, now_ns, seed, 0);
}

Lines resumed_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed) {
  return poll(make, events, now_ns, seed ^ 0x726573756D65, 0.3);
}

Lines windows_equal_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed) {
  Chance chance(seed ^ 0x77696E646F77);
  const Options options = options_for(seed);
  const std::unique_ptr<Engine> engine = make(options);
  engine->add(events);
  Options asked = options;
  asked.now_ns = now_ns;
  const auto job = reference::account(events, asked);
  Lines lines;
  for (int k = 0; k < 4 && job; ++k) {
    Window window;
    std::tie(window.from_ns, window.to_ns) = random_interval(events, now_ns, chance);
    for (size_t n = chance.happens(0.5) ? 0 : chance.below(5); n > 0; --n) {
      window.exclusions.push_back(random_interval(events, now_ns, chance));
    }
    const std::string where = "window " + std::to_string(window.from_ns) + " to " + std::to_string(window.to_ns);
    append(lines, compare(where, golden::reference_window(*job, window.from_ns, window.to_ns, window.exclusions),
                          engine->window(now_ns, window)));
  }
  return lines;
}

Lines conservation(const Figures& figures) {
  if (!figures.contains("elapsed_seconds") || !figures.contains("goodput_seconds")) {
    return {"no elapsed_seconds or goodput_seconds"};
  }
  Lines lines;
  double total = 0;
  for (const auto& [name, figure] : figures) {
    const bool part =
        name == "goodput_seconds" || name.starts_with("badput_seconds.") || name.starts_with("custom_badput_seconds.");
    const double seconds = part ? figure.number.value_or(0) : 0;
    if (seconds < 0) lines.push_back(name + " is negative");
    total += seconds;
  }
  const double gap = std::abs(total - figures.at("elapsed_seconds").number.value_or(-1));
  if (gap > kToleranceSeconds) lines.push_back("goodput and badput miss elapsed by " + std::to_string(gap) + " s");
  return lines;
}

Events smallest_failure(Events events, const std::function<bool(const Events&)>& fails) {
  for (size_t chunk = std::max<size_t>(events.size() / 2, 1); chunk > 0; chunk /= 2) {
    for (size_t at = 0; at < events.size();) {
      Events shorter = events;
      const auto from = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(from, from + static_cast<std::ptrdiff_t>(std::min(chunk, events.size() - at)));
      if (!shorter.empty() && fails(shorter)) {
        events = std::move(shorter);
      } else {
        at += chunk;
      }
    }
  }
  return events;
}

std::string print(const Events& events) {
  Events log = events;
  std::sort(log.begin(), log.end(), [](const auto& a, const auto& b) { return a.position < b.position; });
  std::string text;
  for (const event::Event& event : log) {
    text += "  " + std::to_string(event.position.major) + "-" + std::to_string(event.position.minor) + " at " +
            std::to_string(event.time_ns) + " kind " + std::to_string(static_cast<int>(event.kind));
    if (event.kind == event::Kind::kStepStart || event.kind == event::Kind::kStepEnd) {
      text += " step " + std::to_string(event.step);
    }
    if (event.duration_ns != 0) text += " for " + std::to_string(event.duration_ns);
    if (!event.name.empty()) text += " \"" + std::string(event.name) + "\"";
    if (event.flags != 0) text += " flags " + std::to_string(event.flags);
    if (event.exit_value != 0) text += " exit " + std::to_string(event.exit_value);
    if (event.process_index() != 0) text += " rank " + std::to_string(event.process_index());
    if (event.origin != nullptr && !event.origin->attempt_id.empty()) {
      text += " of " + std::string(event.origin->attempt_id) + " on " + std::string(event.origin->host);
    }
    text += " print " + std::to_string(event.fingerprint) + "\n";
  }
  return text;
}

}  // namespace goodput::property
