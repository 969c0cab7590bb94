# What every target is compiled with: C11, warnings, sanitizers, probes of the stack; OpenMP for the program's benchmarks.
#
# cutt_flags (an interface library) carries it, so that nothing leaks into a project that adds cuTT as a subdirectory.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
  message(WARNING "cuTT is written for GCC (11 or later) and Clang (14 or later); ${CMAKE_C_COMPILER_ID} is untested")
elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "cuTT needs GCC 11 or later; ${CMAKE_C_COMPILER} is ${CMAKE_C_COMPILER_VERSION}")
elseif(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "cuTT needs Clang 14 or later; ${CMAKE_C_COMPILER} is ${CMAKE_C_COMPILER_VERSION}")
endif()

add_library(cutt_flags INTERFACE)
target_compile_options(cutt_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# C11 without GNU extensions of the language, but with the whole of the system's interface (mmap, sched_getaffinity).
target_compile_definitions(cutt_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
if(CUTT_WERROR)
  target_compile_options(cutt_flags INTERFACE -Werror)
endif()

set(cutt_sanitizers "${CUTT_SANITIZE}")
if(CUTT_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CUTT_FUZZ needs clang (libFuzzer is a part of it): configure with -DCMAKE_C_COMPILER=clang")
  endif()
  if(NOT cutt_sanitizers)
    set(cutt_sanitizers "address,undefined")
  endif()
  # For targets with the property CUTT_GUIDES: what is inside of the others is run, and does not guide the choice of inputs.
  target_compile_options(cutt_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:CUTT_GUIDES>>:-fsanitize=fuzzer-no-link>)
endif()
if(cutt_sanitizers)
  target_compile_options(cutt_flags INTERFACE "-fsanitize=${cutt_sanitizers}" -fno-sanitize-recover=all
                                              -fno-omit-frame-pointer -g1) # functions and lines, for reports
  # The property CUTT_UNCHECKED: which checks a target goes without.
  target_compile_options(cutt_flags INTERFACE
    "$<$<BOOL:$<TARGET_PROPERTY:CUTT_UNCHECKED>>:-fno-sanitize=$<TARGET_PROPERTY:CUTT_UNCHECKED>>")
  target_link_options(cutt_flags INTERFACE "-fsanitize=${cutt_sanitizers}")
endif()

# A frame that is larger than the page below a stack touches every page on its way down, so that a stack that is too small
# ends in a fault there, and not in other memory. Clang takes the flag, and ignores it, where it has no such code: that
# is a warning, and counts as not having it.
include(CheckCCompilerFlag)
set(CMAKE_REQUIRED_FLAGS "-Werror")
check_c_compiler_flag(-fstack-clash-protection CUTT_HAVE_STACK_CLASH_PROTECTION)
unset(CMAKE_REQUIRED_FLAGS)
if(CUTT_HAVE_STACK_CLASH_PROTECTION)
  target_compile_options(cutt_flags INTERFACE -fstack-clash-protection)
endif()

# cutt_small_frames: for what runs in the libraries' calls, which take 16 KB of a stack at most (tests/host/test_stack.c): no
# function of theirs takes half of that by itself. Sanitizers and compiling without optimisation make frames larger.
add_library(cutt_small_frames INTERFACE)
if(NOT cutt_sanitizers)
  target_compile_options(cutt_small_frames INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wframe-larger-than=8192>)
endif()

# OpenMP, for what fills and checks tensors in the program's benchmarks: the libraries have threads of their own. Found or not,
# cutt_openmp can be linked; the rest of the build asks only for that.
add_library(cutt_openmp INTERFACE)
set(cutt_openmp_found OFF)
set(cutt_openmp_text "no (CUTT_OPENMP is OFF)")
if(CUTT_OPENMP)
  find_package(OpenMP QUIET COMPONENTS C)
  if(OpenMP_C_FOUND)
    target_link_libraries(cutt_openmp INTERFACE OpenMP::OpenMP_C)
    set(cutt_openmp_found ON)
    set(cutt_openmp_text "yes (${OpenMP_C_FLAGS})")
  else()
    set(cutt_openmp_text "no: ${CMAKE_C_COMPILER} has no OpenMP")
  endif()
endif()
if(NOT cutt_openmp_found)
  # One thread is what was asked for, or has been said: not once more for each pragma.
  target_compile_options(cutt_openmp INTERFACE -Wno-unknown-pragmas)
endif()
# What threads and loading libraries take: libraries of their own where libc is old, nothing where it has all of it.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
static void *nothing(void *x) { return x; }
int main(void) {
  pthread_t thread;
  sem_t semaphore;
  return pthread_create(&thread, 0, nothing, 0) || pthread_atfork(0, 0, 0) || sem_init(&semaphore, 0, 0) || dlopen(\"x\", RTLD_NOW);
}" CUTT_LIBC_HAS_THREADS)
set(cutt_system_libraries)
if(NOT CUTT_LIBC_HAS_THREADS)
  set(cutt_system_libraries pthread dl)
endif()
message(STATUS "cuTT ${PROJECT_VERSION}: ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, OpenMP: ${cutt_openmp_text}")
