/// \file
/// A third-party library, which does not depend on Python: approximate nearest neighbours by a hierarchical navigable
/// small world (Malkov and Yashunin, 2018). Each point has links to points that are near it; those of higher levels are
/// few and far apart. A search follows the links, level by level downwards.
#ifndef HNSW_H_
#define HNSW_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <istream>
#include <memory>
#include <mutex>
#include <ostream>
#include <queue>
#include <random>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace hnsw {

/// The distance of two points: the squared Euclidean distance, 1 - the inner product, 1 - the cosine.
enum class Metric : int32_t { kL2, kInner, kCosine };

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// There is no room for another point.
struct Full : Error {
  using Error::Error;
};
/// The loaded data is no index.
struct Corrupt : Error {
  using Error::Error;
};

struct Match {
  int64_t id;
  float distance;
};

/// Points with ids. Any number of threads may search at once, even while another thread changes the index.
class Index {
 public:
  Index(int64_t dim, Metric metric = Metric::kL2, int64_t capacity = 1024, int64_t links = 16, uint64_t seed = 0)
      : dim_(dim), metric_(metric), capacity_(capacity), links_(links), random_(seed) {
    if (dim < 1 || dim > kMost)
      throw std::invalid_argument("dim must be between 1 and 1000000, got " + std::to_string(dim));
    if (links < 2 || links > 256)
      throw std::invalid_argument("links must be between 2 and 256, got " + std::to_string(links));
    if (capacity < 0) throw std::invalid_argument("capacity must not be negative, got " + std::to_string(capacity));
  }
  virtual ~Index() = default;

  int64_t dim() const { return dim_; }
  Metric metric() const { return metric_; }
  int64_t size() const {
    std::shared_lock lock(mutex_);
    return count();
  }
  int64_t capacity() const {
    std::shared_lock lock(mutex_);
    return capacity_;
  }
  /// The number of candidates that a search keeps: more make it slower and more exact.
  int64_t breadth() const {
    std::shared_lock lock(mutex_);
    return breadth_;
  }
  void set_breadth(int64_t breadth) {
    if (breadth < 1) throw std::invalid_argument("breadth must be positive, got " + std::to_string(breadth));
    std::unique_lock lock(mutex_);
    breadth_ = breadth;
  }

  /// Adds a point of dim() numbers, which replaces one with the same id.
  void add(const float* point, int64_t id) {
    std::unique_lock lock(mutex_);
    auto former = slots_.find(id);
    if (former == slots_.end() && count() >= capacity_) {
      throw Full("the index is full: it has room for " + std::to_string(capacity_) + " points");
    }
    std::vector<float> copy = prepare(point);
    Slot slot = insert(copy.data(), id);
    if (former != slots_.end()) nodes_[former->second].is_removed = true;
    slots_[id] = slot;
    if (nodes_.size() > 64 && static_cast<size_t>(count()) * 2 < nodes_.size()) rebuild();
  }

  /// Throws std::out_of_range if there is no such id. The point is no match any more, but still leads to others.
  void remove(int64_t id) {
    std::unique_lock lock(mutex_);
    nodes_[find(id)].is_removed = true;
    slots_.erase(id);
  }

  bool contains(int64_t id) const {
    std::shared_lock lock(mutex_);
    return slots_.count(id) > 0;
  }
  /// The numbers of a point; with Metric::kCosine they are scaled to length 1.
  std::vector<float> point(int64_t id) const {
    std::shared_lock lock(mutex_);
    const float* numbers = at(find(id));
    return {numbers, numbers + dim_};
  }
  /// In ascending order.
  std::vector<int64_t> ids() const {
    std::shared_lock lock(mutex_);
    std::vector<int64_t> all;
    for (const auto& [id, slot] : slots_) all.push_back(id);
    std::sort(all.begin(), all.end());
    return all;
  }

  /// At most `most` matches, the nearest first.
  std::vector<Match> search(const float* query, int64_t most) const {
    std::shared_lock lock(mutex_);
    if (most < 1) throw std::invalid_argument("the number of matches must be positive, got " + std::to_string(most));
    if (slots_.empty()) return {};
    std::vector<float> copy = prepare(query);
    Slot nearest = descend(copy.data(), 0);
    std::vector<Match> matches;
    for (auto [distance, slot] : walk(copy.data(), nearest, std::max(breadth_, most), 0)) {
      if (nodes_[slot].is_removed) continue;
      matches.push_back({nodes_[slot].id, distance});
      if (static_cast<int64_t>(matches.size()) == most) break;
    }
    return matches;
  }

  /// Makes room for `capacity` points.
  void resize(int64_t capacity) {
    std::unique_lock lock(mutex_);
    if (capacity < count()) {
      throw std::invalid_argument("the index has " + std::to_string(count()) + " points, more than " +
                                  std::to_string(capacity));
    }
    capacity_ = capacity;
  }

  /// Writes the format that `load` reads, on a machine with the same byte order.
  void save(std::ostream& out) const {
    std::shared_lock lock(mutex_);
    out.write(kMagic, sizeof kMagic);
    for (int64_t number : {dim_, static_cast<int64_t>(metric_), capacity_, links_, breadth_}) write(out, number);
    write(out, count());
    for (Slot slot = 0; slot < nodes_.size(); ++slot) {
      if (nodes_[slot].is_removed) continue;
      write(out, nodes_[slot].id);
      out.write(reinterpret_cast<const char*>(at(slot)), static_cast<std::streamsize>(dim_ * sizeof(float)));
    }
  }

  /// Throws Corrupt if the data is not valid.
  static std::unique_ptr<Index> load(std::istream& in) {
    char magic[sizeof kMagic] = {};
    in.read(magic, sizeof magic);
    if (std::memcmp(magic, kMagic, sizeof magic) != 0) throw Corrupt("not a saved index");
    auto dim = read(in), metric = read(in), capacity = read(in), links = read(in), breadth = read(in), size = read(in);
    if (dim < 1 || dim > kMost || metric < 0 || metric > 2 || size < 0 || size > capacity || links < 2 || links > 256 ||
        breadth < 1) {
      throw Corrupt("a number of the saved index is out of its range");
    }
    auto index = std::make_unique<Index>(dim, static_cast<Metric>(metric), capacity, links);
    index->breadth_ = breadth;
    std::vector<float> point(static_cast<size_t>(dim));
    for (int64_t i = 0; i < size; ++i) {
      int64_t id = read(in);
      if (!in.read(reinterpret_cast<char*>(point.data()), static_cast<std::streamsize>(dim * sizeof(float)))) {
        throw Corrupt("the saved index ends after " + std::to_string(i) + " of " + std::to_string(size) + " points");
      }
      index->slots_[id] = index->insert(point.data(), id);
    }
    if (index->count() != size) throw Corrupt("an id of the saved index is there twice");
    return index;
  }

 private:
  /// The index of a point in nodes_.
  using Slot = uint32_t;
  using Near = std::pair<float, Slot>;
  struct Node {
    int64_t id;
    /// The links, by level.
    std::vector<std::vector<Slot>> links;
    bool is_removed = false;
  };
  static constexpr int64_t kMost = 1000000;
  static constexpr char kMagic[8] = {'H', 'N', 'S', 'W', '0', '0', '1', '\n'};

  int64_t count() const { return static_cast<int64_t>(slots_.size()); }
  const float* at(Slot slot) const { return &numbers_[static_cast<size_t>(slot) * static_cast<size_t>(dim_)]; }
  size_t top() const { return nodes_[entry_].links.size() - 1; }
  /// The lowest level, which has all points, may have more links.
  size_t most_links(size_t level) const { return static_cast<size_t>(level == 0 ? 2 * links_ : links_); }

  Slot find(int64_t id) const {
    auto found = slots_.find(id);
    if (found == slots_.end()) throw std::out_of_range("no point has the id " + std::to_string(id));
    return found->second;
  }

  float distance(const float* x, const float* y) const {
    float sum = 0;
    if (metric_ == Metric::kL2) {
      for (int64_t i = 0; i < dim_; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
      return sum;
    }
    for (int64_t i = 0; i < dim_; ++i) sum += x[i] * y[i];
    return 1 - sum;
  }

  /// Returns a point as it is stored, or a query as it is compared.
  std::vector<float> prepare(const float* point) const {
    std::vector<float> copy(point, point + dim_);
    float square = 0;
    for (float x : copy) square += x * x;
    if (!std::isfinite(square)) throw std::invalid_argument("a point has numbers that are not finite, or too large");
    if (metric_ == Metric::kCosine && square > 0) {
      for (float& x : copy) x /= std::sqrt(square);
    }
    return copy;
  }

  /// The nearest point, searched on the levels above `level`.
  Slot descend(const float* query, size_t level) const {
    Slot nearest = entry_;
    for (size_t i = top(); i > level; --i) nearest = walk(query, nearest, 1, i).front().second;
    return nearest;
  }

  /// Points of a level that can be reached from `start`, the nearest first: at least `breadth` points that are not
  /// removed, if there are as many.
  std::vector<Near> walk(const float* query, Slot start, int64_t breadth, size_t level) const {
    std::vector<bool> is_seen(nodes_.size());
    std::priority_queue<Near, std::vector<Near>, std::greater<>> open;
    std::priority_queue<Near> best;
    std::vector<Near> removed;
    auto see = [&](Slot slot) {
      if (is_seen[slot]) return;
      is_seen[slot] = true;
      Near near{distance(query, at(slot)), slot};
      if (static_cast<int64_t>(best.size()) >= breadth && near > best.top()) return;
      open.push(near);
      if (level == 0 && nodes_[slot].is_removed) {
        removed.push_back(near);
        return;
      }
      best.push(near);
      if (static_cast<int64_t>(best.size()) > breadth) best.pop();
    };
    see(start);
    while (!open.empty()) {
      Near next = open.top();
      open.pop();
      if (static_cast<int64_t>(best.size()) >= breadth && next > best.top()) break;
      for (Slot slot : nodes_[next.second].links[level]) see(slot);
    }
    for (; !best.empty(); best.pop()) removed.push_back(best.top());
    std::sort(removed.begin(), removed.end());
    return removed;
  }

  /// Selects the points to link to from `points`, which are sorted by distance: none that is nearer to a selected one,
  /// so that links go into all directions.
  std::vector<Slot> choose(const std::vector<Near>& points, size_t most) const {
    std::vector<Slot> chosen;
    for (const Near& near : points) {
      if (chosen.size() == most) break;
      bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                 [&](Slot other) { return distance(at(other), at(near.second)) < near.first; });
      if (is_new) chosen.push_back(near.second);
    }
    return chosen;
  }

  Slot insert(const float* point, int64_t id) {
    size_t level = 0;
    while (level < 30 && random_() % static_cast<uint64_t>(links_) == 0) ++level;
    auto made = static_cast<Slot>(nodes_.size());
    numbers_.insert(numbers_.end(), point, point + dim_);
    nodes_.push_back({id, std::vector<std::vector<Slot>>(level + 1), false});
    if (made == 0) return entry_ = made;
    Slot nearest = level < top() ? descend(point, level) : entry_;
    for (size_t i = std::min(level, top()) + 1; i-- > 0;) {
      std::vector<Near> near = walk(point, nearest, kBuildBreadth, i);
      nearest = near.front().second;
      nodes_[made].links[i] = choose(near, static_cast<size_t>(links_));
      for (Slot other : nodes_[made].links[i]) link(other, made, i);
    }
    if (level > top()) entry_ = made;
    return made;
  }

  /// Adds a link; if there are too many, keeps the best.
  void link(Slot from, Slot to, size_t level) {
    std::vector<Slot>& links = nodes_[from].links[level];
    links.push_back(to);
    if (links.size() <= most_links(level)) return;
    std::vector<Near> near;
    for (Slot slot : links) near.emplace_back(distance(at(from), at(slot)), slot);
    std::sort(near.begin(), near.end());
    links = choose(near, most_links(level));
  }

  /// Drops removed points.
  void rebuild() {
    std::vector<Node> nodes;
    std::vector<float> numbers;
    nodes.swap(nodes_);
    numbers.swap(numbers_);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].is_removed) slots_[nodes[i].id] = insert(&numbers[i * static_cast<size_t>(dim_)], nodes[i].id);
    }
  }

  static void write(std::ostream& out, int64_t number) {
    out.write(reinterpret_cast<const char*>(&number), sizeof number);
  }
  static int64_t read(std::istream& in) {
    int64_t number = 0;
    if (!in.read(reinterpret_cast<char*>(&number), sizeof number)) throw Corrupt("the saved index ends too early");
    return number;
  }

  static constexpr int64_t kBuildBreadth = 100;
  mutable std::shared_mutex mutex_;
  const int64_t dim_;
  const Metric metric_;
  int64_t capacity_, links_, breadth_ = 50;
  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::vector<float> numbers_;
  /// The slot of each point, by id.
  std::unordered_map<int64_t, Slot> slots_;
  /// The point of the highest level at which searches begin.
  Slot entry_ = 0;
};

}  // namespace hnsw

#endif  // HNSW_H_
