# What a person types; CMake and Ninja do the work. `make help` lists the targets.
#   make PREFIX=/usr DESTDIR=/tmp/stage install
#   make SETUP=: ...        never installs packages
#   make CC=clang BUILD=build-clang
PREFIX ?= /usr/local
BUILD ?= build
JOBS ?= $(shell nproc)
SECONDS ?= 60
SETUP ?= tools/install-packages
ifeq ($(origin CC),default)
CC := cc
endif

cmake = cmake -S . -G Ninja -DCMAKE_C_COMPILER=$(CC)
# Progress is for the first build on a terminal. Later there is little to do: what compilers say is shown at the end, and
# that there is nothing to do is no news (--quiet says it all the same).
ninja = if test -t 2 && test ! -e $(BUILD)/millrace; then ninja -j$(JOBS) -C $(BUILD); else \
	said=$$(ninja -j$(JOBS) -C $(BUILD) --quiet 2>&1); code=$$?; \
	printf '%s' "$$said" | sed '/^ninja: no work to do/d'; exit $$code; fi
export JOBS BUILD CC SETUP

.PHONY: all deps demo python wheel test bench bench-peers fuzz sanitize cross install clean help
.NOTPARALLEL:

all: ## build the command and the libraries into build/ (the default)
	@$(SETUP) build
	@test -f $(BUILD)/build.ninja || $(cmake) -B $(BUILD) -DMILLRACE_TESTS=OFF -DMILLRACE_BENCH=OFF >/dev/null
	@$(ninja)
	@echo "built $(BUILD)/millrace, $(BUILD)/libmillrace.so, $(BUILD)/libmillrace.a"

deps: ## install the packages that building needs, the Python module's too; `pip install .` then works
	@$(SETUP) build python
	@echo "all that building needs is there"

python: all ## build the Python module for work on the tree: PYTHONPATH=build/python
	@$(SETUP) python
	@$(cmake) -B $(BUILD) -DMILLRACE_PYTHON=ON >/dev/null
	@$(ninja)
	@echo "built; use it with PYTHONPATH=$(BUILD)/python"

wheel: ## build a Python wheel that carries its libraries into dist/, and try it in a fresh environment
	@$(SETUP) build python
	@tools/make-wheel

demo_recipe = --recipe 'rrc(224) flip normalize(imagenet)' --batch 32 --epochs 4

demo: all ## generate a small set of images, pack it, and feed it to an imagined trainer from each form, with a report
	@$(BUILD)/millrace generate $(BUILD)/demo --seed 1 --force
	@rm -rf $(BUILD)/demo-packed
	@$(BUILD)/millrace pack $(BUILD)/demo -o $(BUILD)/demo-packed --forms original,l3 --index-place none
	@echo && $(BUILD)/millrace feed $(BUILD)/demo-packed $(demo_recipe)
	@echo && $(BUILD)/millrace feed $(BUILD)/demo-packed $(demo_recipe) --form l3

test: ## build with warnings as errors and run every test, with sanitizers, for aarch64 and of the Python module too
	@$(SETUP) build test
	@tools/run-tests tests address cross python python-address

bench: ## time the codecs beside the plain libraries; FOLDERS="a b" to use your own images
	@$(SETUP) build bench
	@$(cmake) -B $(BUILD) -DMILLRACE_BENCH=ON >/dev/null
	@$(ninja)
	@bench/run $(FOLDERS)

bench-peers: python ## race DALI, FFCV, torch, tf.data and others on the same jobs (two hours, 35 GB); PEERS="--jobs jpeg --peers dali"
	@$(SETUP) peers || echo "bench-peers: peers that need what is missing are left out"
	@python3 bench/peers_race/run.py $(PEERS)

fuzz: ## fuzz every decoder, SECONDS=60 for each target
	@$(SETUP) build fuzz
	@fuzz/run $(SECONDS)

sanitize: ## all tests under ASan+UBSan, then under TSan
	@$(SETUP) build test
	@tools/run-tests address-all thread-all

cross: ## build for aarch64 and run the unit tests under qemu (Debian; adds the arm64 architecture)
	@$(SETUP) build cross
	@tools/run-tests cross

install: all ## install under PREFIX (/usr/local), staged under DESTDIR if given
	@$(cmake) -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(ninja)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)

clean: ## remove everything that was built
	rm -rf build build-* $(if $(wildcard $(BUILD)/build.ninja),$(BUILD))

help: ## list these targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target text; do printf '%-16s%s\n' "$$target" "$$text"; done
