# make COMMAND: each does all the set-up that it needs, and nothing twice. The work is done by the script of that name in tools/.
#
#   setup   what Debian 12 lacks, and .venv          test    all checks and tests, about 25 minutes from nothing
#   build   build/release/goodput                    soak    the tests that take hours
#   demo    a training run, killed and resumed       bench   the performance table; fails on a missed bar
#   wheel   both Python distributions, in wheelhouse
#   fmt     formats the sources                      lint    clang-tidy
#   clean   removes what the others made             test-integrations   PyTorch and others, some gigabytes
COMMANDS := build demo test test-integrations bench soak wheel fmt lint

.PHONY: setup clean $(COMMANDS)
.DEFAULT_GOAL := build

setup:
	@tools/setup

$(COMMANDS): setup
	@tools/$@

clean:
	rm -rf build dist wheelhouse .venv .cache .pytest_cache .ruff_cache python/goodput/_binding.*.so
