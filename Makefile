# Everything that a person or CI runs here. It needs Python >= 3.11 with venv, and make; the rest comes from the lock.
# One environment, .venv: `demo` and `serve` install the runtime lock into it, `test` and `check` the larger dev lock.
# Files in .venv named *-installed are stamps, written only when an installation is complete.

VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)
SUITABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
ALONE := tests/crash tests/faults tests/bench
PROJECTS := pyproject.toml clients/python/pyproject.toml conformance/pyproject.toml
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar off --no-deps --no-compile
# Where Node.js is absent, what concerns TypeScript is skipped, and says so.
NPM := $(shell command -v npm 2>/dev/null)
TYPESCRIPT := clients/typescript
TYPESCRIPT_INSTALLED := $(if $(NPM),$(TYPESCRIPT)/node_modules/installed)
CONFORMANCE := $(BIN)/python -m capability_authority_conformance
INSTALL_PROJECTS := $(PIP_INSTALL) --no-build-isolation --editable clients/python --editable conformance --editable .
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links \
	--no-emit-package capability-authority --no-emit-package capability-authority-client \
	--no-emit-package capability-authority-conformance

.DEFAULT_GOAL := help
.PHONY: help demo serve test bench conformance conformance-set-up conformance-mutants profile check format generate vectors release-contract wheels lock clean

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-28s%s\n", $$1, $$2}'

demo: $(VENV)/runtime-installed ## Run the main job on embedded servers in a throwaway folder.
	@$(BIN)/authority demo

serve: $(VENV)/runtime-installed ## Run the service on embedded servers until Ctrl-C.
	@$(BIN)/authority serve

# Most tests wait for servers, so two processes side by side take little more than half the time of one; each starts
# servers of its own. Whoever kills, stops and times has the machine alone afterwards.
test: $(VENV)/dev-installed $(TYPESCRIPT_INSTALLED) ## Run all tests; ARGS goes to pytest, for example: make test ARGS="tests/unit -x".
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(ALONE))
	@$(BIN)/python -m pytest $(ALONE)
endif

bench: $(VENV)/runtime-installed ## Measure what commits cost; ARGS are options, for example: make bench ARGS="--rounds 3".
	@$(BIN)/python -m bench $(ARGS)

conformance: $(VENV)/runtime-installed ## Judge an authority by the conformance suite: one of its own, or TARGET=host:port.
ifdef TARGET
	@$(CONFORMANCE) run --target $(TARGET) --keys .conformance $(ARGS)
else
	@$(CONFORMANCE) run --serve "$(BIN)/python conformance/serve_authority.py" $(ARGS)
endif

conformance-set-up: $(VENV)/runtime-installed ## Make on the running `make serve` what the suite needs; keys in .conformance.
	@$(CONFORMANCE) set-up --keys .conformance
	@$(BIN)/authority provision .conformance/setup.json $(ARGS)

conformance-mutants: $(VENV)/dev-installed ## Judge deliberately broken authorities by the whole suite (half an hour).
	@$(BIN)/python -m tests.conformance.mutants $(ARGS)

profile: $(VENV)/dev-installed ## Show where the service's time goes under commits; ARGS as for bench.
	@$(BIN)/python -m bench --profile $(ARGS)

check: $(VENV)/dev-installed $(TYPESCRIPT_INSTALLED) ## Lint, check formatting, types, imports, the contract, and that generated code is fresh.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(BIN)/buf breaking proto --against proto/released/v1.binpb
	$(BIN)/python -m pytest --quiet tests/house/test_generated_code_is_fresh.py tests/house/test_vectors_are_fresh.py

format: $(VENV)/dev-installed ## Format the code and mend what ruff can mend.
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format

generate: $(VENV)/dev-installed $(TYPESCRIPT_INSTALLED) ## Make the Python and TypeScript code of the contract again from proto/.
	$(BIN)/python proto/generate.py contract clients/python/src
	$(BIN)/python proto/generate.py conformance conformance/src
ifdef NPM
	$(BIN)/buf generate
else
	@echo "npm is not on the PATH: TypeScript was not generated (Node.js 20 or newer)."
endif

vectors: $(VENV)/dev-installed ## Make the golden vectors again, conformance/vectors/*.json.
	$(BIN)/python -m capability_authority_conformance.golden conformance/vectors

release-contract: $(VENV)/dev-installed ## Make today's contract the one that `make check` guards against breaking changes.
	$(BIN)/buf build proto --exclude-source-info --output proto/released/v1.binpb

wheels: $(VENV)/runtime-installed ## Build the wheels into dist/, and put the contract as a descriptor set beside them.
	@rm -rf build clients/python/build conformance/build dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist \
		./clients/python ./conformance .
	@cp clients/python/src/capability_authority/v1/contract.binpb dist/capability-authority-contract-v1.binpb
	@ls dist

lock: $(VENV)/dev-installed ## Write requirements/*.txt for changed *.in or pyproject; ARGS=--upgrade takes newer versions.
	$(COMPILE) $(ARGS) requirements/runtime.in --output-file requirements/runtime.txt
	$(COMPILE) $(ARGS) requirements/dev.in --output-file requirements/dev.txt

clean: ## Remove the environment, caches and wheels; data in .authority stays.
	rm -rf $(VENV) build dist clients/python/build conformance/build $(TYPESCRIPT)/dist $(TYPESCRIPT)/*.tgz $(TYPESCRIPT)/node_modules *.egg-info clients/python/src/*.egg-info conformance/src/*.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# What an interrupted run left half made is made anew.
$(VENV)/created:
	@for python in $(CANDIDATES); do \
		if $$python -c '$(SUITABLE)' 2>/dev/null; then \
			echo "Making $(VENV) with $$($$python --version)"; \
			$$python -m venv --clear $(VENV) && touch $@; exit; \
		fi; \
	done; \
	{ echo "No usable Python among: $(CANDIDATES). It must be 3.11 or newer and have venv."; \
	echo "  Debian, Ubuntu: apt-get install python3 python3-venv"; \
	echo "  Fedora: dnf install python3        macOS: brew install python@3.13"; \
	echo "Or name one: make PYTHON=/path/to/python3 ..."; } >&2; \
	exit 1

$(VENV)/runtime-installed: $(VENV)/created requirements/runtime.txt $(PROJECTS)
	@echo "Installing the runtime lock (under a minute; only when it changes)"
	@$(PIP_INSTALL) --require-hashes --requirement requirements/runtime.txt
	@$(INSTALL_PROJECTS)
	@touch $@

$(TYPESCRIPT)/node_modules/installed: $(TYPESCRIPT)/package.json $(TYPESCRIPT)/package-lock.json
	@echo "Installing the TypeScript client's lock (some seconds; only when it changes)"
	@cd $(TYPESCRIPT) && npm ci --silent
	@touch $@

# The dev lock holds the whole runtime lock, at the same versions.
$(VENV)/dev-installed: $(VENV)/created requirements/dev.txt $(PROJECTS)
	@echo "Installing the dev lock (about a minute; only when it changes)"
	@$(PIP_INSTALL) --require-hashes --requirement requirements/dev.txt
	@$(INSTALL_PROJECTS)
	@touch $(VENV)/runtime-installed $@
