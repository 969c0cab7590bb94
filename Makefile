# A thin front to CMake: the usual commands, by name. `make help` lists them.
#
# Variables: JOBS (build jobs), PREFIX and DESTDIR (install), CC, WERROR=ON (a warning is an error), CMAKE_FLAGS
# (anything else for configure, such as -DCUTT_OPENMP=OFF or -DCUTT_CUDA_ARCHS=90), BENCH_FLAGS (options of build/cutt
# bench), REPORT_FLAGS (options of bench/report) and FUZZ_SECONDS (of each fuzzer: 5, or 600 in check-long).
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
WERROR ?= OFF
CMAKE_FLAGS ?=
BENCH_FLAGS ?= --volume 16M --samples 1
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory

export JOBS WERROR CMAKE_FLAGS
# FUZZ_SECONDS reaches scripts/check.sh from the environment or the command line by itself.

# Tests are built when asked for (make check); until then only what the library and the program need has to be there.
# A build folder stays with the generator that it was made for.
configure = export CMAKE_GENERATOR="$$(scripts/generator.sh)"; cmake --preset release -DCUTT_WERROR=$(WERROR) \
  $(if $(wildcard build/CMakeCache.txt),,-DCUTT_BUILD_TESTS=OFF) $(CMAKE_FLAGS)
build = $(configure) && cmake --build build -j $(JOBS)

.PHONY: all demo check check-long bench report install deb docs asan tsan fuzz format format-check lint clean help
.DEFAULT_GOAL := all

all: ## build the library and the program (build/cutt)
	@$(build)

demo: ## install what is missing, build, and permute a real tensor
	@scripts/bootstrap.sh build
	@$(build)
	@examples/demo.sh build/cutt build

check: ## install what is missing, build, and run every test (sanitizers and short fuzzing included)
	@scripts/bootstrap.sh check
	@scripts/check.sh format release neon arrays asan tsan fuzz

check-long: ## as check, with a million random problems, much memory and long fuzzing: an hour on two cores
	@scripts/bootstrap.sh check
	@scripts/check.sh --long format release neon arrays asan tsan fuzz

bench: ## the three benchmark sets, smaller than the paper's; in full (ten minutes): make bench BENCH_FLAGS=
	@scripts/bootstrap.sh build
	@$(build)
	@bench/run.sh build/cutt $(BENCH_FLAGS)

report: ## the paper's figures for this machine, beside the libraries found here, as a page; REPORT_FLAGS=--help
	@scripts/bootstrap.sh build
	@$(build)
	@bench/report $(REPORT_FLAGS)

install: all ## install below PREFIX (/usr/local); DESTDIR is honoured
	@cmake --install build --prefix "$(PREFIX)"

deb: ## the Debian packages libcutt0, libcutt-dev and cutt, in build-deb
	@scripts/bootstrap.sh build
	@command -v dpkg-shlibdeps >/dev/null || { echo "make deb needs dpkg-shlibdeps (apt-get install dpkg-dev)" >&2; exit 1; }
	@export CMAKE_GENERATOR="$$(scripts/generator.sh)"; \
	  cmake --preset release -B build-deb -DCMAKE_INSTALL_PREFIX=/usr -DCUTT_BUILD_TESTS=OFF -DCUTT_FORTRAN=OFF \
	  -DCUTT_WERROR=$(WERROR) $(CMAKE_FLAGS)
	@cmake --build build-deb -j $(JOBS)
	@cd build-deb && cpack --config CPackConfig.cmake

docs: ## the reference and the guide as HTML, in build/docs (needs doxygen)
	@$(configure)
	@cmake --build build --target docs

asan: ## tests and fuzzing under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/check.sh asan fuzz

tsan: ## tests under ThreadSanitizer
	@scripts/check.sh tsan

fuzz: ## fuzz each target for FUZZ_SECONDS (5)
	@scripts/check.sh fuzz

format: ## lay out every source file with clang-format 14
	@scripts/format.sh

format-check: ## fail if make format would change anything
	@scripts/format.sh --check

lint: ## clang-tidy over the library and the program
	@scripts/lint.sh

clean: ## remove the build folders
	rm -rf build build-debug build-asan build-tsan build-lint build-deb

help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile | expand -t 14
