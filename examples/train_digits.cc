// Trains a network to read handwritten digits, with goodput::Recorder in its loop, and survives being killed.
//
//   goodput run --job digits -- train_digits --directory /tmp/digits --crash-at-step 1500
//   goodput report digits
//
// Three layers, stochastic gradient descent with momentum, checkpoints that are whole or not there. Each batch is a
// function of its step's number, so a run that was killed and resumed ends with the same weights as one that was not.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <goodput/recorder.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kPixels = 64;
constexpr int kDigits = 10;
constexpr int kBatch = 32;
constexpr float kRate = 0.02F;
constexpr float kMomentum = 0.9F;

struct Options {
  std::string directory = "train_digits.out";
  std::string digits = "examples/data/digits.csv";
  int64_t epochs = 60;
  int64_t checkpoint_every = 400;  // steps
  int64_t evaluate_every = 10;     // epochs
  int64_t crash_at_step = -1;      // none
};

Options parse_options(int argc, char** argv) {
  Options options;
  const std::map<std::string, int64_t*> numbers = {{"--epochs", &options.epochs},
                                                   {"--checkpoint-every", &options.checkpoint_every},
                                                   {"--evaluate-every", &options.evaluate_every},
                                                   {"--crash-at-step", &options.crash_at_step}};
  const std::map<std::string, std::string*> texts = {{"--directory", &options.directory},
                                                     {"--digits", &options.digits}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(name + ": takes a value");
    if (const auto number = numbers.find(name); number != numbers.end()) {
      *number->second = std::stoll(argv[i + 1]);
    } else if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = argv[i + 1];
    } else {
      throw std::invalid_argument(name + ": no such option");
    }
  }
  return options;
}

/// Images with their digits, one after the other.
struct Digits {
  std::vector<float> pixels;
  std::vector<int> labels;

  [[nodiscard]] int size() const { return static_cast<int>(labels.size()); }
  void add(const float* image, int label) {
    pixels.insert(pixels.end(), image, image + kPixels);
    labels.push_back(label);
  }
};

struct Split {
  Digits train;
  Digits test;  // every sixth
};

Split read_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("reading digits: no file " + path);
  Split split;
  int64_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    float image[kPixels];
    int label = -1;
    for (float& pixel : image) {
      words >> pixel;
      pixel /= 16;
    }
    words >> label;
    if (!words || label < 0 || label >= kDigits) throw std::runtime_error("reading digits: bad line " + line);
    (count % 6 == 0 ? split.test : split.train).add(image, label);
  }
  return split;
}

/// The batch of a step: drawn at random and moved by up to a pixel, the same whenever it is asked for.
Digits load_batch(const Digits& train, int64_t step) {
  std::mt19937_64 random(static_cast<uint64_t>(step));
  Digits batch;
  for (int i = 0; i < kBatch; ++i) {
    const auto at = random() % static_cast<uint64_t>(train.size());
    const float* image = train.pixels.data() + at * kPixels;
    const int right = static_cast<int>(random() % 3) - 1;
    const int down = static_cast<int>(random() % 3) - 1;
    float moved[kPixels] = {};
    for (int y = std::max(0, down); y < std::min(8, 8 + down); ++y) {
      for (int x = std::max(0, right); x < std::min(8, 8 + right); ++x) {
        moved[y * 8 + x] = image[(y - down) * 8 + (x - right)];
      }
    }
    batch.add(moved, train.labels[at]);
  }
  return batch;
}

/// One layer's weights (input × output) and biases, and how they last moved.
struct Layer {
  Layer(int inputs, int outputs, std::mt19937_64& random)
      : in(inputs), out(outputs), values(static_cast<size_t>(in + 1) * out), velocity(values.size()) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(in)));
    for (size_t i = 0; i < static_cast<size_t>(in) * out; ++i) values[i] = normal(random);
  }

  [[nodiscard]] const float* bias() const { return values.data() + static_cast<size_t>(in) * out; }

  int in, out;
  std::vector<float> values;  // weights, then biases
  std::vector<float> velocity;
};

class Network {
 public:
  Network() {
    std::mt19937_64 random(7);
    for (const auto& [in, out] : {std::pair{kPixels, 128}, {128, 64}, {64, kDigits}})
      layers_.emplace_back(in, out, random);
  }

  /// One step of gradient descent. Returns the loss.
  float train(const Digits& batch) {
    const std::vector<std::vector<float>> seen = forward(batch);
    float loss = 0;
    std::vector<float> slope = slope_of_loss(seen.back(), batch.labels, loss);
    for (size_t i = layers_.size(); i-- > 0;) slope = descend(layers_[i], seen[i], slope, batch.size());
    return loss;
  }

  /// How many of the digits it reads right.
  [[nodiscard]] int count_right(const Digits& digits) const {
    const std::vector<float> scores = forward(digits).back();
    int right = 0;
    for (int i = 0; i < digits.size(); ++i) {
      const auto first = scores.begin() + std::ptrdiff_t{i} * kDigits;
      right += std::max_element(first, first + kDigits) - first == digits.labels[static_cast<size_t>(i)] ? 1 : 0;
    }
    return right;
  }

  std::vector<Layer>& layers() { return layers_; }

 private:
  /// What each layer sees, and at last the scores.
  [[nodiscard]] std::vector<std::vector<float>> forward(const Digits& digits) const {
    std::vector<std::vector<float>> seen = {digits.pixels};
    for (const Layer& layer : layers_) {
      std::vector<float> output(static_cast<size_t>(digits.size()) * layer.out);
      for (int row = 0; row < digits.size(); ++row) {
        const float* input = seen.back().data() + static_cast<size_t>(row) * layer.in;
        float* sum = output.data() + static_cast<size_t>(row) * layer.out;
        std::copy_n(layer.bias(), layer.out, sum);
        for (int i = 0; i < layer.in; ++i) {
          const float* weights = layer.values.data() + static_cast<size_t>(i) * layer.out;
          for (int o = 0; o < layer.out; ++o) sum[o] += input[i] * weights[o];
        }
        if (&layer != &layers_.back())
          std::transform(sum, sum + layer.out, sum, [](float x) { return std::max(x, 0.0F); });
      }
      seen.push_back(std::move(output));
    }
    return seen;
  }

  /// Of the mean cross entropy, with respect to the scores.
  static std::vector<float> slope_of_loss(std::vector<float> scores, const std::vector<int>& labels, float& loss) {
    const auto rows = static_cast<float>(labels.size());
    for (size_t row = 0; row < labels.size(); ++row) {
      float* score = scores.data() + row * kDigits;
      const float highest = *std::max_element(score, score + kDigits);
      float sum = 0;
      for (int i = 0; i < kDigits; ++i) sum += score[i] = std::exp(score[i] - highest);
      for (int i = 0; i < kDigits; ++i) score[i] /= sum * rows;
      loss -= std::log(score[labels[row]] * rows) / rows;
      score[labels[row]] -= 1 / rows;
    }
    return scores;
  }

  /// Moves a layer against the slope of its output, and returns the slope of its input.
  static std::vector<float> descend(Layer& layer, const std::vector<float>& input, const std::vector<float>& slope,
                                    int rows) {
    std::vector<float> of_input(input.size());
    std::vector<float> of_values(layer.values.size());
    float* of_bias = of_values.data() + static_cast<size_t>(layer.in) * layer.out;
    for (int row = 0; row < rows; ++row) {
      const float* of_output = slope.data() + static_cast<size_t>(row) * layer.out;
      for (int o = 0; o < layer.out; ++o) of_bias[o] += of_output[o];
      for (int i = 0; i < layer.in; ++i) {
        const size_t at = static_cast<size_t>(row) * layer.in + i;
        if (input[at] <= 0) continue;  // cut off by the layer before, or a white pixel
        const float* weights = layer.values.data() + static_cast<size_t>(i) * layer.out;
        float* of_weights = of_values.data() + static_cast<size_t>(i) * layer.out;
        for (int o = 0; o < layer.out; ++o) {
          of_weights[o] += input[at] * of_output[o];
          of_input[at] += weights[o] * of_output[o];
        }
      }
    }
    for (size_t i = 0; i < layer.values.size(); ++i) {
      layer.velocity[i] = kMomentum * layer.velocity[i] - kRate * of_values[i];
      layer.values[i] += layer.velocity[i];
    }
    return of_input;
  }

  std::vector<Layer> layers_;
};

/// The one file that a run resumes from: the number of the next step, then all numbers of the network.
class Checkpoint {
 public:
  explicit Checkpoint(const std::string& directory) : path_(directory + "/checkpoint") {}

  /// Whole or not there, whenever the process or the machine dies.
  void save(Network& network, int64_t next_step) const {
    const std::string beside = path_ + ".new";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(beside.c_str(), "wb"), std::fclose);
    bool good = file != nullptr && std::fwrite(&next_step, sizeof next_step, 1, file.get()) == 1;
    for (Layer& layer : network.layers()) {
      for (const std::vector<float>* numbers : {&layer.values, &layer.velocity}) {
        good = good && std::fwrite(numbers->data(), sizeof(float), numbers->size(), file.get()) == numbers->size();
      }
    }
    good = good && std::fflush(file.get()) == 0 && fsync(fileno(file.get())) == 0;
    if (!good) throw std::runtime_error("writing a checkpoint to " + beside);
    std::filesystem::rename(beside, path_);
  }

  /// The step to go on with: 0 when there is no checkpoint.
  [[nodiscard]] int64_t next_step() const {
    std::ifstream file(path_, std::ios::binary);
    int64_t next_step = 0;
    return file.read(reinterpret_cast<char*>(&next_step), sizeof next_step) ? next_step : 0;
  }

  void restore(Network& network) const {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(sizeof(int64_t));
    for (Layer& layer : network.layers()) {
      for (std::vector<float>* numbers : {&layer.values, &layer.velocity}) {
        file.read(reinterpret_cast<char*>(numbers->data()),
                  static_cast<std::streamsize>(numbers->size() * sizeof(float)));
      }
    }
    if (!file) throw std::runtime_error("reading the checkpoint " + path_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Dies as a process dies that is out of memory or on a failing machine: once, so that the next attempt gets further.
void crash_once(const std::string& directory) {
  if (open((directory + "/crashed").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) >= 0) raise(SIGKILL);
}

void train(const Options& options, goodput::Recorder& recorder) {
  auto prep = recorder.scope(goodput::Event::kTrainingPrep);
  std::filesystem::create_directories(options.directory);
  const auto [train, test] = read_digits(options.digits);
  Network network;
  const Checkpoint checkpoint(options.directory);
  prep.end();

  const int64_t first_step = checkpoint.next_step();
  if (first_step > 0) {
    auto restore = recorder.checkpoint_restore(first_step, checkpoint.path());
    checkpoint.restore(network);
  }
  std::printf("starting at step %lld\n", static_cast<long long>(first_step));

  const int64_t steps_per_epoch = train.size() / kBatch;
  for (int64_t step = first_step; step < options.epochs * steps_per_epoch; ++step) {
    auto load = recorder.data_loading(/*blocking=*/true);
    const Digits batch = load_batch(train, step);
    load.end();

    recorder.step(step);
    const float loss = network.train(batch);
    if (step == options.crash_at_step) crash_once(options.directory);

    const int64_t done = step + 1;
    if (done % options.checkpoint_every == 0) {
      auto save = recorder.checkpoint_save(step, checkpoint.path());
      checkpoint.save(network, done);
    }
    if (done % (options.evaluate_every * steps_per_epoch) == 0) {
      auto evaluation = recorder.custom("eval");
      std::printf("epoch %lld: loss %.4f, %d of %d test digits right\n", static_cast<long long>(done / steps_per_epoch),
                  static_cast<double>(loss), network.count_right(test), test.size());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    const Options options = parse_options(argc, argv);
    const char* job = std::getenv("GOODPUT_JOB");
    auto recorder = goodput::Recorder::open({.job = job != nullptr ? job : "digits"});
    auto running = recorder.scope(goodput::Event::kJob);
    train(options, recorder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_digits: %s\n", error.what());
    return 1;
  }
  return 0;
}
