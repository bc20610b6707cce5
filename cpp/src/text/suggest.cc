/// \file
/// Suggestions for misspelt names.
#include "text/suggest.h"

#include <algorithm>

namespace anyffi::runtime {
namespace {

constexpr size_t kLongestName = 64;
constexpr size_t kMostNames = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The Damerau-Levenshtein distance, except that a change of case costs nothing. Both names have at most `kLongestName`
/// bytes.
int distance(std::string_view a, std::string_view b) {
  int rows[3][kLongestName + 1];
  int *before = rows[0], *previous = rows[1], *current = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int change = previous[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
      current[j] = std::min({change, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

Vector<String> suggest(std::string_view name, const Vector<String>& known) {
  struct Match {
    int distance;
    const String* name;
  };
  Vector<Match> matches;
  if (name.size() <= kLongestName) {
    for (const String& candidate : known) {
      if (candidate.size() > kLongestName) continue;
      auto longer = static_cast<int>(std::max(name.size(), candidate.size()));
      int found = distance(name, candidate);
      if (found <= longer / 3) matches.push_back({found, &candidate});
    }
  }
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.distance != b.distance ? a.distance < b.distance : *a.name < *b.name;
  });
  Vector<String> names;
  for (size_t i = 0; i < std::min(matches.size(), kMostNames); ++i) names.push_back(*matches[i].name);
  return names;
}

String did_you_mean(std::string_view name, const Vector<String>& known) {
  String text;
  for (const String& suggestion : suggest(name, known)) {
    text += text.empty() ? "; did you mean '" : "', '";
    text += suggestion;
  }
  if (!text.empty()) text += "'?";
  return text;
}

}  // namespace anyffi::runtime
