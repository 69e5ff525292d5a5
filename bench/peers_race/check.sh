#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The race against the peers is made, run and told, with a peer of straw in the place of all of them. No time is asserted.
# From the environment: MILLRACE, SCRATCH.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tests/command/common"
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "skipped: no Python 3.11"
    finish
fi
export XDG_CACHE_HOME="$SCRATCH/cache" PYTHONDONTWRITEBYTECODE=1

python3 "$here/run.py" --settings >settings 2>err || fail "run.py --settings: exit code $?: $(cat err)"
sed -n '/^<!-- settings -->$/,/^<!-- .settings -->$/p' "$here/../README.md" | sed '1d;$d' >written
cmp -s settings written || fail "bench/README.md has other settings than the peers: put in what bench/peers_race/run.py --settings prints"

# data: painted, of every name its number, kept when it is there
MILLRACE_SHARED=nowhere python3 "$here/data.py" --data data --images 40 --millrace "$MILLRACE" jpeg png-kodak packed/l3 >out 2>err || fail "data.py: exit code $?: $(cat err)"
is "$(find data/jpeg -type f | wc -l | tr -d ' ')" 40 "names"
has out '^packed/l3 .*millrace pack --forms l3 jpeg$'
MILLRACE_SHARED=nowhere python3 "$here/data.py" --data data --images 40 --millrace "$MILLRACE" jpeg >out 2>err
is_empty err
python3 "$here/data.py" --data data nonsense >out 2>err && fail "data.py takes nonsense"
has err 'no set is called nonsense'

# peers of straw, beside copies of what drives them
mkdir race venvs venvs/straw venvs/straw/bin
for file in harness data report chart run; do cp "$here/$file.py" race/; done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" venvs/straw/bin/python
cat >race/straw.py <<'STRAW'
import time, harness
class Images:
    def __init__(self, job):
        self.job = harness.JOBS[job]
        self.shape, self.dtype = (self.job.batch, 3, self.job.height, self.job.width), self.job.dtype
    def __len__(self): return self.shape[0]
    def __array__(self, *_, **__):
        import numpy
        return numpy.zeros(self.shape, self.dtype)
def job(data, threads, seconds=0.01, name="jpeg"):
    data.folder(name)
    def epoch():
        end = time.process_time() + seconds # work, so that there is something to count
        while time.process_time() < end:
            pass
        yield Images(name), [0] * 256
    return harness.forever(epoch)
def broken(data, threads):
    raise harness.Unavailable("straw burns")
def kodak(data, threads):
    return job(data, threads, name="png-kodak")
def pixels(value, only=None):
    def function(data, files, kind):
        import numpy
        assert only in (None, kind)
        return [numpy.full({"resize": (256, 256, 3), "crop": (512, 512, 3)}[kind], value, "uint8") for _ in files]
    return function
STRAW
cat >race/peer_torch.py <<'STRAW'
import harness, straw
PEER = harness.Peer(name="torch", venv="straw", documents="nowhere", jobs={}, version=lambda: "0", pixels=straw.pixels(7))
if __name__ == "__main__": harness.main(PEER)
STRAW
cat >race/peer_millrace.py <<'STRAW'
import harness, straw
PEER = harness.Peer(name="millrace", venv="straw", documents="nowhere", jobs={"jpeg:folder": straw.job, "png-kodak:folder": straw.kodak}, version=lambda: "1",
    settings={"jpeg": "straw"}, pixels=straw.pixels(7))
if __name__ == "__main__": harness.main(PEER)
STRAW
cat >race/peer_slow.py <<'STRAW'
import harness, straw
PEER = harness.Peer(name="slow", venv="straw", documents="nowhere", jobs={"jpeg": lambda d, t: straw.job(d, t, 0.05), "jpeg:burnt": straw.broken, "jpeg:bent": straw.job, "png-kodak": straw.kodak},
    version=lambda: "2", pixels={"jpeg": straw.pixels(8, "resize"), "jpeg:bent": lambda *_: [[]], "png-kodak": straw.pixels(4, "crop")}, prepare={"r": lambda data, to: open(to, "w").close()}, needs={"jpeg": ("r",)})
if __name__ == "__main__": harness.main(PEER)
STRAW
if python3 -c 'import numpy' 2>/dev/null; then
    MILLRACE_SHARED=nowhere BUILD=nowhere python3 "race/run.py" --jobs jpeg,png-kodak --data data --venvs venvs --out out.d --images 40 --millrace "$MILLRACE" --rounds 2 --seconds 0.2 --no-install --no-wait >out 2>err ||
        fail "run.py: exit code $?: $(cat err)"
    has out '^\| \*\*millrace:folder\*\* \| .* \| 1\.00 \| .* \| 1\.00 \|'
    has out '^\| slow \| '
    has out 'slow:burnt, jpeg: left out: straw burns$'
    has out '^40 files: 40 painted images'
    has out '^\| jpeg: never slower \| 1 and more \| [0-9.]+ times the images/s of slow(:bent)? .by millrace:folder. \| (met|..missed..) \|$'
    json_is out.d/peers.json '[(row["name"], sum(run["counts"] for run in row["runs"]), bool(row["memory"])) for row in j["rows"]]' \
        "[('millrace:folder', 2, True), ('slow', 2, True), ('slow:burnt', 1, False), ('slow:bent', 2, True), ('millrace:folder', 2, True), ('slow', 2, True)]"
    # pixels: of each job its own, from the reference of its set; who is far from it is no measure
    sed -n '/^## jpeg:/,/^## png-kodak:/p' out >jpeg
    sed -n '/^## png-kodak:/,$p' out >kodak
    has jpeg '^\| \*\*millrace:folder\*\* \| .* \| 0\.00, 0 \|'
    has jpeg '^\| slow \| .* \| 1\.00, 1 \|  \|$'
    has kodak '^\| slow \| .* \| 3\.00, 3 \| other pixels than the reference \|$'
    lacks out '^\| png-kodak: never slower'
    has out '^- slow:bent, jpeg: its pixels were not compared: RuntimeError: .*, not 40x256x256x3 uint8$'
    json_is out.d/peers.json '[row["pixels"]["files"] for row in j["rows"] if row["name"] == "slow"]' "[40, 24]"
    find data/png-kodak -name '000000_000.png' -delete
    python3 race/peer_slow.py pixels png-kodak --data data >out 2>err && fail "pixels of other images than the reference's are compared"
    has out 'reference-png-kodak.npz is of other images'
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' out.d/peers.svg || fail "peers.svg is no XML"
    [ -e data/records/slow/r ] || fail "nothing was prepared"
    cp out.d/peers.md before && python3 "race/run.py" --report out.d/peers.json --out out.d && cmp before out.d/peers.md || fail "--report tells another story"
    # the first layout: pixels by peer, of full-size JPEGs alone
    python3 - <<'OLD' && python3 "race/run.py" --report old.json --out old.d || fail "--report does not read the first layout"
import json
found = json.load(open("out.d/peers.json"))
for row in found["rows"]: del row["pixels"]
json.dump(found | {"pixels": {"slow": {"pixels_mean": 1.25, "pixels_max": 9}}}, open("old.json", "w"))
OLD
    has old.d/peers.md '^\| slow \| .* \| 1\.25, 9 \|  \|$'
    has old.d/peers.md '^\| slow \| .* \| – \|  \|$'
    # who can do a job and was not asked to is named
    lacks before ' did not race'
    python3 - <<'SHORT' && python3 "race/run.py" --report short.json --out short.d || fail "--report does not read a race of one job"
import json
found = json.load(open("out.d/peers.json"))
found["rows"] = [row for row in found["rows"] if (row["peer"], row["base"]) != ("slow", "png-kodak")]
json.dump(found, open("short.json", "w"))
SHORT
    has short.d/peers.md '^- png-kodak: slow did not race .--peers.\.$'
fi
finish
