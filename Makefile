# SPDX-License-Identifier: Apache-2.0
# Commands for contributors and CI. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
# Swift builds share one build folder, whose lock serializes them anyway.
.NOTPARALLEL:

SWIFT ?= swift
# Further arguments for `swift test`, for example: make test ARGS='--filter R16'
ARGS ?=
# Queues in PostgreSQL are in these builds wherever its library is installed, so that one build has all tests.
ifeq ($(shell pkg-config --exists libpq 2>/dev/null && echo yes),yes)
export REFRAIN_POSTGRESQL := 1
endif
# Where `make install` puts the command: DESTDIR is the root of a package that is being made, PREFIX the place in it.
DESTDIR ?=
PREFIX ?= /usr/local

.PHONY: help setup demo examples test traits postgres apple lint api api-accept sanitize fuzz docs site bench soak \
	release install check

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the packages that the build needs and this machine lacks
	@Scripts/setup

demo: setup ## Build the command and watch requests survive faults over real sockets
	@$(SWIFT) build --product refrain
	$(SWIFT) run --skip-build refrain demo

examples: setup ## Build every example and run it
	@Scripts/examples

test: ## Run every test
	@Scripts/setup --test
	Scripts/test $(ARGS)

traits: ## Test the traits, if REFRAIN_CHECKOUTS names a folder of the packages
	@Scripts/setup --traits
	Scripts/test-traits

postgres: ## Test the queue, also in PostgreSQL, with servers that the tests start
	@Scripts/setup --test
	REFRAIN_POSTGRESQL=1 Scripts/test --filter RefrainQueueTests

apple: ## Type-check, on Linux, the code for Apple platforms against stand-ins of its frameworks
	@Scripts/setup
	Scripts/check apple

lint: ## Check the formatting and the style
	@Scripts/lint

api: ## Compare the public API with its listing, and check its documentation
	@Scripts/setup --api
	Scripts/api
	Scripts/check doc-examples

api-accept: ## List the public API anew
	@Scripts/setup --api
	Scripts/api --accept

sanitize: ## Run every test under the thread sanitizer, then under the address sanitizer
	@Scripts/setup --test
	Scripts/sanitize $(ARGS)

fuzz: ## Fuzz each parser that sees the network (FUZZ_SECONDS=60 for each)
	@Scripts/setup
	Scripts/fuzz

docs: ## Build the documentation site into out/docs
	@Scripts/setup --api
	Scripts/docs

site: docs ## Build the documentation site and look at it in a browser
	@Scripts/setup --docs
	Scripts/check docs

bench: ## Run the benchmarks side by side and print one table
	@Scripts/setup --bench
	Scripts/bench

soak: ## Make a million calls at 30 % faults, and count both sides
	@Scripts/setup
	Scripts/soak

release: ## Build the command as one file, its manual, completions and .deb, with checksums, into dist
	@Scripts/setup --release
	Scripts/release
	if [ "$$(uname -s)" = Linux ] && command -v dpkg-deb >/dev/null; then Scripts/deb; fi

install: ## Install what make release built: make install PREFIX=/usr/local DESTDIR=
	@command=$$(find dist -maxdepth 1 -type f -name 'refrain-*' -perm -u+x 2>/dev/null | head -n 1)
	[ -n "$$command" ] || { echo "install: there is no command in dist/; make release builds it" >&2; exit 1; }
	prefix="$(DESTDIR)$(PREFIX)"
	install -d "$$prefix/bin" "$$prefix/share/man/man1" "$$prefix/share/bash-completion/completions" \
		"$$prefix/share/zsh/site-functions" "$$prefix/share/fish/vendor_completions.d"
	install -m 755 "$$command" "$$prefix/bin/refrain"
	install -m 644 dist/refrain.1 "$$prefix/share/man/man1/refrain.1"
	install -m 644 dist/completions/refrain.bash "$$prefix/share/bash-completion/completions/refrain"
	install -m 644 dist/completions/_refrain "$$prefix/share/zsh/site-functions/_refrain"
	install -m 644 dist/completions/refrain.fish "$$prefix/share/fish/vendor_completions.d/refrain.fish"
	echo "install: $$prefix/bin/refrain, its manual page, and completions for bash, zsh and fish"

check: lint apple api test sanitize ## What must pass before a change is proposed
	@Scripts/check fuzz
