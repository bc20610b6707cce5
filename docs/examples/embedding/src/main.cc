// A program without Python: it loads a library of functions and calls them.
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

#include <cstdio>
#include <string>

using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::Module;

static void run(const char* path) {
  Module plugin = Module::load(path);
  for (anyffi::AnyValue name : plugin.list_functions()) std::printf("exports %s\n", name.cast<std::string>().c_str());

  Function scale = plugin.get_function("scale");
  List<double> xs{1.0, 2.5};
  scale(xs, 10);  // a List is shared: the function changes this one
  std::printf("scaled: %g, %g\n", xs[0], xs[1]);
  std::printf("by the default: %g\n", scale(xs).cast<List<double>>()[0]);

  Function find_root = plugin.get_function("find_root");
  double offset = 2;
  Function curve = Function::from([offset](double x) { return x * x - offset; });
  std::printf("root: %.6f\n", find_root(curve, 0.0, 2.0).cast<double>());

  Function version = Function::get_global("plugin.version");
  std::printf("version: %s\n", version().cast<std::string>().c_str());

  try {
    find_root(curve, 2.0, 0.0);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
