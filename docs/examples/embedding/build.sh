#!/bin/sh
# Builds the program and the library that it loads. The program finds the runtime by its rpath.
set -eu
cd "$(dirname "$0")"
flags="-std=c++17 ${CXXFLAGS:--O2} $(anyffi-config --cflags)"
${CXX:-g++} $flags src/main.cc $(anyffi-config --libs) -Wl,-rpath,"$(anyffi-config --libdir)" -o main
${CXX:-g++} $flags -fPIC -shared src/plugin.cc $(anyffi-config --libs) -o libplugin.so
