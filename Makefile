# Two commands: `make demo` runs a real Spark application through Zoe, `make test` passes the tests.
PYTHON ?= $(shell command -v python3.11 || command -v python3.13 || command -v python3)
# Without bytecode every process compiles what it imports, a second and more.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
RUN := $(BIN)/python
# Settings of the stack to start, for `serve` and the demos.
GIVEN = $(if $(SETTINGS),--settings "$(SETTINGS)")

# `make check` uses mypy's daemon, which ends after an hour without use; MYPY=mypy leaves it out.
MYPY ?= mypy

.DEFAULT_GOAL := help
.PHONY: hooks mpi wheels test-python test-chaos test-soak sbom audit check web docs-site test-web help demo demo-storage demo-deadline serve dev playground test test-unit test-all lint format setup runtime notebook lock ci-tools docs picture openapi bench bench-scheduler bench-cli bench-storage bench-store bench-web bench-reads bench-slurm bench-swarm bench-start bench-replay drill-postgres bench-scheduler-smoke study clean test-changed test-slice test-costs test-swarm test-storage storage-up ceph-up seaweedfs-up images up down

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 24

setup: ## make the isolated environment .venv from the lock file
	@$(PYTHON) scripts/setup.py

docs-site: setup ## build the documentation site into zoe_api/docs_site, if docs/ has changed; served under /docs/
	@$(RUN) -m scripts.site

web: setup ## build the web UI into zoe_api/static, if its sources have changed
	@$(RUN) -m scripts.web

images: setup web docs-site ## build the images that a swarm runs, with the docker command
	@$(RUN) -m scripts.images $(IMAGES)

up: setup web docs-site ## PostgreSQL, master and API in containers, for a swarm (COMPOSE_PROFILES=metrics: Prometheus and Grafana, too)
	@$(RUN) -m scripts.deploy up

down: setup ## end what `make up` began; data stays (DOWN=--volumes removes it)
	@$(RUN) -m scripts.deploy down $(DOWN)

runtime: setup ## build the application runtime (Spark, Java) for local services, once for all clones
	@$(RUN) -m zoe_embedded.runtimes.runtime

notebook: setup ## the same with JupyterLab, marimo, pandas, Dask and DuckDB, for the notebooks of the catalogue under `make serve`
	@$(RUN) -m zoe_embedded.runtimes.runtime --notebook

mpi: setup ## MPICH and mpi4py, for mpi-pi.json and other MPI programs under `make serve`
	@$(RUN) -m zoe_embedded.runtimes.mpi

demo: setup ## run a real Spark application through Zoe and check its answer (SETTINGS=FILE as in zoe.toml, or ZOE_... variables)
	@$(RUN) -m zoe_embedded.demos.demo $(GIVEN)

demo-storage: setup ## the demo from a real OpenStack Swift, with and without pushdown (needs memcached; STORE=ceph or seaweedfs: that, behind a gateway)
	@$(RUN) -m zoe_embedded.demos.storage $(GIVEN) --store $(or $(STORE),swift)

demo-deadline: setup ## promise a Spark job to end by three times, and keep them by workers and bandwidth (needs memcached; some ten minutes)
	@$(RUN) -m zoe_embedded.demos.deadline $(GIVEN)

serve: setup web ## the same stack, staying up on loopback (BACKEND=docker, podman: in containers; SETTINGS=FILE as in zoe.toml; STORAGE=1: with OpenStack Swift and its controller)
	@(nice $(RUN) -m scripts.site || echo '[docs] Zoe runs without its documentation; make docs-site shows why') & \
	$(RUN) -m zoe_embedded.demos.serve $(GIVEN) $(if $(BACKEND),--backend $(BACKEND)) $(if $(STORAGE),--storage)

dev: setup ## the same with reload: a saved Python file restarts API and master, Vite reloads the web UI
	@$(RUN) -m scripts.dev

playground: setup web ## the same with two tenants, ended executions, a queue and a store, in a home of its own, to try things on (SETTINGS=FILE)
	@$(RUN) -m zoe_embedded.playground $(GIVEN)

check: setup ## lint, and the nearest unit tests of the present change, in seconds (BASE=COMMIT: since that commit)
	@MYPY="$${MYPY:-dmypy run --timeout 3600}" $(RUN) -m scripts.testing.check

hooks: ## check each commit by `make check`, and let git blame look behind commits that only move code
	@git config core.hooksPath scripts/hooks && git config blame.ignoreRevsFile .git-blame-ignore-revs && echo 'make check runs before each commit'

test: setup web docs-site ## the first tier of the tests, which gates: every capability with real parts, and all cheap tests
	@$(RUN) -m scripts.testing.run

test-changed: setup web docs-site ## the second tier of what has changed, the nearest first, at most 15 minutes (BASE=COMMIT)
	@$(RUN) -m scripts.testing.check --tier 2

test-slice: setup web docs-site ## 8 minutes of the second tier: the part of it whose turn it is after this commit
	@$(RUN) -m scripts.testing.slices

test-python: setup ## the unit tests with another Python (VERSION=3.13), in an environment of its own (TESTS=long: also API, local back-end and the whole stack)
	@$(RUN) -m scripts.other_python $(or $(VERSION),3.13) $(TESTS)

test-all: setup web docs-site ## everything: both tiers, 100,000 property checks, all published traces, all long forms (hours; needs ZOE_TEST_DATA)
	@$(RUN) -m scripts.testing.run --long

test-costs: setup ## write the costs of the last runs into tests/costs.json, and list the dearest tests
	@$(RUN) -m scripts.testing.costs update

test-unit: setup ## the unit tests: no database, no store, no engine
	@$(RUN) -m scripts.testing.run tests/unit

test-swarm: setup ## the Swarm back-end on three engines made for it, and Zoe in containers (as root)
	@ZOE_TEST_GROUP=50 $(RUN) -m scripts.testing.run --long swarm compose

storage-up: setup ## OpenStack Swift with Zoe's filters on loopback, until Ctrl-C (needs memcached)
	@$(RUN) -m zoe_embedded.swift

ceph-up: setup ## Ceph's object gateway on loopback, in memory, until Ctrl-C (needs Debian's ceph-mon, ceph-osd, radosgw)
	@$(RUN) -m zoe_embedded.ceph

seaweedfs-up: setup ## SeaweedFS, an S3 store, on loopback until Ctrl-C
	@$(RUN) -m zoe_embedded.seaweedfs

test-web: setup web ## the web UI in a real browser with a Spark notebook (ZOE_TEST_PICTURES=1 draws docs/images anew)
	@$(RUN) -m scripts.testing.run --long web

test-chaos: setup ## 1,000 kills and pauses of real programs at random, at most 30 minutes; the last line counts violations
	@$(RUN) -m tests.chaos --kills 1000 --storage

test-soak: setup ## half an hour of steady work with faults: memory, descriptors, threads and rows must not grow (MINUTES=30)
	@$(RUN) -m tests.soak --minutes $(or $(MINUTES),30) --storage

test-storage: setup ## a real Swift with Zoe's filters, and a real Spark that reads from it
	@$(RUN) -m scripts.testing.run --long storage rates

lint: setup ## ruff, mypy --strict, import-linter, sizes of folders and functions, plain language; biome and TypeScript for the web UI
	@failed=; for check in "ruff check ." "ruff format --check ." "$(MYPY)" lint-imports "python -m scripts.rooms --quiet" "python -m scripts.language --quiet" "python -m scripts.testing.gates" "python -m scripts.web check"; \
	do $(BIN)/$$check || failed="$$failed, $$check"; done; [ -z "$$failed" ] || { echo "lint failed: $${failed#, }"; exit 1; }

format: setup ## format the sources
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

ci-tools: ## what the tests use beyond Python, from Debian's packages (as root)
	@sh scripts/ci-tools.sh

bench: setup ## submission beside a bare insert, wake-up to plan, and first process (docs/operate/performance.md; minutes)
	@$(RUN) -m benchmarks.submission
	@$(RUN) -m benchmarks.wake_to_plan
	@$(RUN) -m benchmarks.submit_to_process

bench-cli: setup ## CPU time of quick commands beside `python -c pass` (a minute)
	@$(RUN) -m benchmarks.command_line

bench-slurm: setup ## submissions, short jobs, arrays and a long queue beside Debian's Slurm (as root; packages slurmctld slurmd slurm-client munge; minutes)
	@$(RUN) -m benchmarks.beside_slurm
	@$(RUN) -m benchmarks.queues_beside_slurm

drill-postgres: setup ## a PostgreSQL under Patroni that fails over while clients submit (as root; downloads Debian's packages; minutes; TIMING="quick 3")
	@$(RUN) -W ignore -m benchmarks.patroni $(TIMING)

bench-web: setup web ## the web UI: what a first page weighs, frames of a table with 100,000 live rows (minutes)
	@$(RUN) -m benchmarks.web

bench-reads: setup ## 500 followers of events, and questions with 100,000 executions stored, at one API process (minutes)
	@$(RUN) -m benchmarks.api_reads; reads=$$?; $(RUN) -m benchmarks.event_streams; exit $$((reads + $$?))

bench-start: setup ## from submission to result beside the bare program (ROUNDS=7; ROWS="demo script many options")
	@$(RUN) -m benchmarks.start $(ROWS)

bench-swarm: setup ## Zoe on a swarm beside bare docker-py (as root, 15 minutes; ROWS="start verdict batch spark")
	@$(RUN) -m benchmarks.swarm $(ROWS)

bench-storage: setup ## the object store: filters, SLOs, views (docs/operate/performance-store.md; 40 minutes; ROWS="slo cost pushdown connector stranger")
	@$(RUN) -W ignore -m benchmarks.storage $(ROWS)

bench-store: setup ## figures of the founding document on filters, caches and monitoring (FIG="10 11 12 13 14 15 16 17 18 19 20"; each some minutes)
	@$(RUN) -W ignore -m benchmarks.storage.figures $(FIG)

bench-scheduler: setup ## speed of the scheduler beside its goals, and the plot of its growth (minutes)
	@$(RUN) -m benchmarks.scheduler_pass; passes=$$?; $(RUN) -m benchmarks.growth; growth=$$?; \
	$(RUN) -m benchmarks.wake_to_plan; wake=$$?; exit $$((passes + growth + wake))

bench-replay: setup ## jobs a second of zoe-sim under EASY (LOG=file.swf.gz, or the KTH log of ZOE_TEST_DATA)
	@$(RUN) -m benchmarks.replay $(LOG)

bench-scheduler-smoke: setup ## one pass of the scheduler over 100 nodes and 320 executions
	@$(RUN) -m benchmarks.scheduler_smoke

study: setup ## go on with the scheduling study in docs/study, and write its tables
	@$(RUN) -m lab study --out docs/study

lock: setup ## write the lock files again
	@sh scripts/lock.sh

sbom: setup ## a software bill of materials (CycloneDX) of every lock file, in build/sbom
	@$(RUN) -m scripts.supply_chain sbom

audit: setup ## known vulnerabilities of what the lock files name, where the package index tells them
	@$(RUN) -m scripts.supply_chain audit

wheels: web docs-site ## build two wheels in dist/: zoe_analytics, all of Zoe, and zoe_client, the command line and SDK for laptops
	@$(RUN) -m hatchling build -t wheel -d dist
	@cd packaging/client && $(CURDIR)/$(RUN) -m hatchling build -t wheel -d $(CURDIR)/dist

release: wheels ## wheels, bills of materials, known vulnerabilities and signed checksums in dist/zoe-VERSION (KEY=private key of ssh)
	@$(RUN) -m scripts.release $(or $(KEY),$(error name the key: make release KEY=~/.ssh/id_ed25519))

docs: setup ## write the pages of docs/reference, the schema of descriptions, and zoe_client/calls/asynchronous.py again
	@$(RUN) -m scripts.reference
	@$(RUN) -m zoe_lib.descriptions > docs/reference/schema.draft && mv docs/reference/schema.draft docs/reference/description.schema.json

picture: runtime ## draw the README's picture again, from a real run of the demo
	@$(RUN) -m scripts.picture

openapi: setup ## write docs/reference/openapi.json again
	@$(RUN) -m scripts.openapi > docs/reference/openapi.json.draft && mv docs/reference/openapi.json.draft docs/reference/openapi.json

clean: ## remove the environment and caches of this folder (neither ZOE_HOME nor ZOE_RUNTIMES)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
