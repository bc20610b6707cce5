#!/bin/sh
# Builds the library, and the stub with its functions' types, in the folder of the package.
set -eu
cd "$(dirname "$0")"
${CXX:-g++} -std=c++17 ${CXXFLAGS:--O2} -fPIC -shared $(anyffi-config --cflags) \
  src/template_plain.cc $(anyffi-config --libs) -o template_plain/libtemplate_plain.so
${PYTHON:-python} -m anyffi stubgen template_plain/libtemplate_plain.so -o template_plain/_core.pyi
