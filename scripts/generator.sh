#!/bin/sh
# Names the generator that CMake is to build by: CMAKE_GENERATOR, if the environment has it; else Ninja, where that is there and new
# enough for Fortran (1.10); else makefiles. CMake's makefiles start processes for every file and look at every target anew: a build
# that has nothing to do takes them 6 seconds of the processor, and Ninja a tenth of one.
if [ -n "$CMAKE_GENERATOR" ]; then
  echo "$CMAKE_GENERATOR"
  exit 0
fi
case $(ninja --version 2>/dev/null) in
  '' | 0.* | 1.[0-9] | 1.[0-9].*) echo "Unix Makefiles" ;;
  *) echo Ninja ;;
esac
