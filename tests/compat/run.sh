#!/bin/sh
# Try craqan.py under several versions of `datasets`, each in an environment of its own, made on the first call.
#
#   tests/compat/run.sh                    5.2.0 and 3.6.0
#   tests/compat/run.sh 2.21.0 4.0.0       others
#
# DATA=folder takes another data folder than data/ (one that holds default/train.jsonl and its like). CRAQAN_PYTHON is
# the interpreter that has the project itself, to make a release and publish it to a Hub on this machine.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
data=${DATA:-$root/data}
ls "$data"/default/*.jsonl >/dev/null

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# datasets refuses a folder named like the script in it: never call it craqan.
mkdir "$work/CRaQAn_copy"
cp "$root/craqan.py" "$root/README.md" "$work/CRaQAn_copy"
cp -r "$data" "$work/CRaQAn_copy/data"

for version in ${*:-5.2.0 3.6.0}; do
    python=$root/.venv-datasets-$version/bin/python
    if ! "$python" -c "import datasets; assert datasets.__version__ == '$version'" 2>/dev/null; then
        "${PYTHON:-python3}" -m venv --clear "$root/.venv-datasets-$version"
        "$python" -m pip install --quiet --disable-pip-version-check "datasets==$version"
    fi
    if [ -n "${DATA:-}" ]; then  # the README describes data/, not this
        (cd "$root" && "$python" -c "
from pathlib import Path
from generation.releases import card
card.update(Path('$work/CRaQAn_copy/README.md'), Path('$work/CRaQAn_copy/data'))")
    fi
    (cd "$work" && HF_HOME="$work/home-$version" HF_HUB_OFFLINE=1 "$python" "$root/tests/compat/check.py" CRaQAn_copy)
done
(cd "$root" && "${CRAQAN_PYTHON:-$root/.venv/bin/python}" -m tests.compat.hub ${*:-5.2.0 3.6.0})
