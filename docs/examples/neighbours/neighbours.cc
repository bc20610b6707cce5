/// \file
/// The classes of hnsw.h in Python: the complete binding code.

#include <anyffi/anyffi.h>
#include <anyffi/stl/filesystem.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>
#include <anyffi/stl/vector.h>

#include <fstream>
#include <sstream>

#include "hnsw.h"

namespace {

using anyffi::any;
using anyffi::arg;
using anyffi::Error;
using anyffi::Native;
using anyffi::row_major;
using anyffi::shape;
using anyffi::TypedTensor;
using anyffi::TypedView;
using hnsw::Index;

using Points = TypedView<const float, shape<any, any>, row_major>;
using Ids = TypedView<const int64_t, 1, row_major>;

// ---- for parameters that are pointers, check the array and pass its memory ----

void check_dim(const Index& index, int64_t dim) {
  if (dim != index.dim()) throw Error("ValueError", "expected points of {} numbers, got {}", index.dim(), dim);
}

void add(Index& index, const Points& points, const Ids& ids) {
  check_dim(index, points.extent(1));
  if (ids.size() != points.extent(0)) throw Error("ValueError", "{} points, but {} ids", points.extent(0), ids.size());
  for (int64_t i = 0; i < ids.size(); ++i) index.add(points.row(i).data(), ids[i]);
}

/// Rows with fewer matches end with the id -1, at an infinite distance.
std::tuple<Native<TypedTensor<int64_t, 2>>, Native<TypedTensor<float, 2>>> search(const Index& index,
                                                                                  const Points& queries, int64_t k) {
  check_dim(index, queries.extent(1));
  if (k < 1 || k > index.capacity()) throw Error("ValueError", "k is between 1 and the capacity, got {}", k);
  auto ids = TypedTensor<int64_t, 2>::empty(queries.extent(0), k);
  auto distances = TypedTensor<float, 2>::empty(queries.extent(0), k);
  std::fill_n(ids.data(), ids.size(), -1);
  std::fill_n(distances.data(), distances.size(), INFINITY);
  for (int64_t i = 0; i < queries.extent(0); ++i) {
    int64_t j = 0;
    for (const hnsw::Match& match : index.search(queries.row(i).data(), k)) {
      ids(i, j) = match.id;
      distances(i, j++) = match.distance;
    }
  }
  return {ids, distances};
}

Native<TypedTensor<float, 1>> point(const Index& index, int64_t id) {
  return TypedTensor<float, 1>::from(index.point(id));
}

// ---- streams become files, and bytes for pickles ----

void save(const Index& index, const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary);
  index.save(out);
  if (!out.flush()) throw Error("OSError", "cannot write {}", path.string());
}

std::unique_ptr<Index> load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("FileNotFoundError", "cannot read {}", path.string());
  return Index::load(in);
}

anyffi::Bytes state(const Index& index) {
  std::ostringstream out;
  index.save(out);
  return anyffi::Bytes(out.str());
}

std::unique_ptr<Index> restore(const anyffi::Bytes& state) {
  std::istringstream in{std::string(std::string_view(state))};
  return Index::load(in);
}

}  // namespace

ANYFFI_ENUM(hnsw::Metric, "hnsw.Metric")
    .doc("How far two points are from each other.")
    .value("L2", hnsw::Metric::kL2, "The square of their distance.")
    .value("INNER", hnsw::Metric::kInner, "1 - their inner product.")
    .value("COSINE", hnsw::Metric::kCosine, "1 - the cosine of the angle between them.");

ANYFFI_EXCEPTION(hnsw::Error, "hnsw.Error", "RuntimeError");
ANYFFI_EXCEPTION(hnsw::Full, "hnsw.Full", "hnsw.Error").doc("No room for another point.");
ANYFFI_EXCEPTION(hnsw::Corrupt, "hnsw.Corrupt", "hnsw.Error").doc("What was to be loaded is no index.");

ANYFFI_CLASS(hnsw::Match, "hnsw.Match")
    .doc("A point that was found.")
    .field("id", &hnsw::Match::id)
    .field("distance", &hnsw::Match::distance);

ANYFFI_CLASS(hnsw::Index, "hnsw.Index")
    .doc("Points with ids, and a graph that leads to the nearest ones.")
    .init<int64_t, hnsw::Metric, int64_t, int64_t, uint64_t>(arg("dim"), arg("metric") = hnsw::Metric::kL2,
                                                             arg("capacity") = 1024, arg("links") = 16, arg("seed") = 0)
    .doc("An empty index for points of `dim` numbers.")
    .init(&load, arg("path"))
    .doc("An index that was saved.")
    .property("dim", &Index::dim)
    .property("metric", &Index::metric)
    .property("capacity", &Index::capacity, &Index::resize)
    .doc("How many points there is room for.")
    .property("breadth", &Index::breadth, &Index::set_breadth)
    .doc("How many points a search keeps in view: more make it slower and more exact.")
    .op(anyffi::ops::len)
    .op(anyffi::ops::contains, &Index::contains, arg("id"))
    .method("add", &add, arg("points").convert(), arg("ids").convert())
    .release_gil()
    .doc("Add the rows of an array, in place of points with the same ids.")
    .method("search", &search, arg("queries").convert(), arg("k") = 1)
    .release_gil()
    .doc("Return ids and distances of the nearest `k` points for each row, the nearest first.")
    .method(
        "nearest",
        [](const Index& index, const TypedView<const float, 1, row_major>& query) {
          check_dim(index, query.size());
          auto found = index.search(query.data(), 1);
          if (found.empty()) throw Error("ValueError", "the index is empty");
          return found[0];
        },
        arg("query").convert())
    .doc("Return the nearest point.")
    .method("remove", &Index::remove, arg("id"))
    .method("point", &point, arg("id"))
    .method("ids", &Index::ids)
    .method("save", &save, arg("path"))
    .pickle(&state, &restore);
