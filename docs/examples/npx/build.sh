#!/bin/sh
# Builds the library in this folder, where the program loads it.
set -eu
cd "$(dirname "$0")"
${CXX:-g++} -std=c++17 ${CXXFLAGS:--O2} -fPIC -fvisibility=hidden -shared $(anyffi-config --cflags) \
  src/*.cc $(anyffi-config --libs) -o libnpx.so
