/// \file
/// Files that may be shared libraries, as they are checked before the system's loader reads them; paths; and names of
/// data types and devices with any numbers.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "modules/library_file.h"
#include "text/text.h"

namespace anyffi::fuzz {
namespace {

void check_path(const std::string& bytes) {
  Owned path;
  if (!finished(runtime::path_from_native(bytes, &path), &path)) return;
  runtime::String native;
  if (finished(runtime::path_to_native(&path, &native))) {
    require(bytes == std::string_view(native), "a path is encoded as it was decoded");
  }
}

void run(Input& input) {
  AnyffiDataType type{input.ConsumeIntegral<uint8_t>(), input.ConsumeIntegral<uint8_t>(),
                      input.ConsumeIntegral<uint16_t>()};
  AnyffiDevice device{input.ConsumeIntegral<int32_t>(), input.ConsumeIntegral<int32_t>()};
  Owned type_name, device_name;
  finished(anyffi_data_type_to_str(&type, &type_name), &type_name);
  finished(anyffi_device_to_str(&device, &device_name), &device_name);
  check_path(input.ConsumeRandomLengthString(64));
  std::string content = input.ConsumeRemainingBytesAsString();
  int file = memfd_create("library", MFD_CLOEXEC);
  require(file >= 0 && write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
          "a file can be written");
  runtime::String name = runtime::String("/proc/self/fd/") + std::to_string(file).c_str();
  Owned path;
  if (finished(anyffi_str_from_utf8(name.c_str(), static_cast<int64_t>(name.size()), &path), &path)) {
    finished(runtime::check_library_file(&path, name));
  }
  close(file);
}

const Target target{"library", &run};

}  // namespace
}  // namespace anyffi::fuzz
