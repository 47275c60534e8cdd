// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/palette.h"

#include <array>

namespace goodput::report {
namespace {

constexpr std::array<ClassLook, 14> kLooks = {{
    {"PRODUCTIVE", "productive", "steps whose work was kept", '#', {35, 32}},
    {"ACCELERATOR_INITIALIZATION", "accelerator initialization", "devices and runtime coming up", 'I', {144, 37}},
    {"TRAINING_PREP", "training prep", "building model and optimizer", 'P', {137, 33}},
    {"PROGRAM_STARTUP", "program startup", "compilation and warm-up steps", 'C', {220, 93}},
    {"DATA_LOADING_SYNC", "data loading sync", "waiting for input", 'D', {99, 35}},
    {"CHECKPOINT_SAVE", "checkpoint save", "steps held up by a save", 'S', {67, 34}},
    {"CHECKPOINT_RESTORE", "checkpoint restore", "reading a checkpoint back", 'R', {80, 36}},
    {"CUSTOM_BADPUT_EVENTS", "custom events", "events that you named", 'E', {111, 94}},
    {"ELASTIC_SLICE_DOWN", "elastic slice down", "waiting for a lost slice", 'L', {132, 95}},
    {"ELASTIC_SCALE_UP", "elastic scale up", "waiting while slices join", 'U', {176, 95}},
    {"ELASTIC_REINITIALIZATION", "elastic reinitialization", "restart after slices changed", 'N', {139, 95}},
    {"WASTED_PROGRESS", "wasted progress", "steps lost and done again", 'W', {208, 91}},
    {"STALLED", "stalled", "alive without progress", 'Z', {162, 35}},
    {"INFRASTRUCTURE_RECOVERY", "infrastructure recovery", "no training process alive", '-', {160, 31}},
}};
constexpr ClassLook kOtherLook = {"OTHER", "other", "nothing recorded explains it", '.', {245, 90}};

}  // namespace

const ClassLook& look_of(std::string_view name) {
  for (const ClassLook& look : kLooks) {
    if (look.name == name) return look;
  }
  return kOtherLook;
}

int order_of(std::string_view name) {
  for (size_t i = 0; i < kLooks.size(); ++i) {
    if (kLooks[i].name == name) return static_cast<int>(i);
  }
  return static_cast<int>(kLooks.size());
}

}  // namespace goodput::report
