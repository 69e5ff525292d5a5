#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loader, for an imagined trainer: the same bytes by every way, states, sinks, bad samples, and what is told.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset RANK WORLD_SIZE LOCAL_RANK SLURM_PROCID SLURM_NTASKS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE \
    JOB_COMPLETION_INDEX
recipe='rrc(32) flip normalize(imagenet)'

"$MILLRACE" generate set --count 30 --classes 3 --forms jpeg --size 90x70 >/dev/null || fail "generate"
# In the order of the folder: shards, and packed in two forms.
(cd set && find . -name '*.jpeg' | LC_ALL=C sort | sed 's|^\./||' | tar cf ../set.tar -T -)
run 0 pack set -o packed --forms jpeg,l3
run 0 pack set -o bare --forms jpeg --no-row-index

hash_fed() { # ARGUMENT...: the hash of the last epoch
    "$MILLRACE" feed "$@" --sink hash --json >fed 2>err </dev/null || fail "millrace feed $*: $(cat err)"
    sed -n 's/.*"epoch_hash": "\([0-9a-f]*\)".*/\1/p' fed
}

# Every way to the same samples gives the same hash; others give others.
for r in "$recipe" 'short(40) center(32)' 'rrc(32) dtype(u8) layout(nhwc)' 'rrc(32) normalize(imagenet) dtype(f16)'; do
    wanted=$(hash_fed set --recipe "$r" --batch 8 --threads 1)
    is "${#wanted}" 16 "digits of the hash of $r"
    for threads in 2 3; do
        is "$(hash_fed set --recipe "$r" --batch 8 --threads $threads)" "$wanted" "$r on $threads threads"
    done
    is "$(hash_fed set --recipe "$r" --batch 7)" "$wanted" "$r in other batches"
    is "$(hash_fed packed --recipe "$r" --batch 8)" "$wanted" "$r, packed"
    is "$(hash_fed packed --recipe "$r" --batch 8 --form l3)" "$wanted" "$r, from L3"
    is "$(hash_fed bare --recipe "$r" --batch 8)" "$wanted" "$r, without row indexes"
    is "$(hash_fed packed --recipe "$r" --batch 8 --check-all --reading threads --slots 2)" "$wanted" "$r, read otherwise"
    is "$(hash_fed packed --recipe "$r" --batch 8 --device sim)" "$wanted" "$r, by sim"
    is "$(MILLRACE_CPU=portable && export MILLRACE_CPU && hash_fed packed --recipe "$r" --batch 8)" "$wanted" "$r, portable"
done
wanted=$(hash_fed set --recipe "$recipe" --batch 8)
[ "$(hash_fed set --recipe "$recipe" --batch 8 --seed 1)" != "$wanted" ] || fail "another seed gives the same hash"
[ "$(hash_fed set --recipe "$recipe" --batch 8 --epoch 1)" != "$wanted" ] || fail "another epoch gives the same hash"
[ "$(hash_fed set --recipe "$recipe" --order sequential)" != "$wanted" ] || fail "another order gives the same hash"
is "$(hash_fed set --recipe "$recipe" --epoch 0 --epochs 2)" "$(hash_fed set --recipe "$recipe" --epoch 1)" \
    "the second epoch of two"

# A tar's labels are others, so it is its own standard.
tarred=$(hash_fed set.tar --recipe "$recipe" --batch 8 --threads 1)
run 0 pack set.tar -o tarred --forms jpeg,l3
is "$(hash_fed set.tar --recipe "$recipe" --batch 5 --threads 3)" "$tarred" "a tar on 3 threads"
is "$(hash_fed tarred --recipe "$recipe" --batch 8)" "$tarred" "a tar, packed"
is "$(hash_fed tarred --recipe "$recipe" --batch 8 --form l3)" "$tarred" "a tar, packed as L3"

# Ranks and states: the parts add up to the whole.
command -v python3 >/dev/null 2>&1 || finish
sum() { # HASH...
    python3 -c 'import sys; print("%016x" % (sum(int(h, 16) for h in sys.argv[1:]) % 2**64))' "$@"
}
for world in 2 3 7; do
    parts=
    rank=0
    while [ $rank -lt $world ]; do
        parts="$parts $(hash_fed packed --recipe "$recipe" --batch 4 --rank $rank --world $world)"
        json_is fed 'j["rank"], j["world"]' "($rank, $world)"
        rank=$((rank + 1))
    done
    # shellcheck disable=SC2086
    is "$(sum $parts)" "$wanted" "the sum of $world ranks"
done
first=$(hash_fed packed --recipe "$recipe" --batch 8 --state state --max-batches 2)
json_is fed 'j["resumed"], j["batches"], j["samples"]' '(False, 2, 16)'
is_json state
run 1 feed set.tar --recipe "$recipe" --batch 8 --state state
has err '^millrace: state: '
run 1 feed packed --recipe 'rrc(32)' --batch 8 --state state
has err '^millrace: state: '
second=$(hash_fed packed --recipe "$recipe" --batch 5 --threads 3 --state state)
has err '^millrace: state: note: goes on at epoch 0, position 16$'
json_is fed 'j["resumed"], j["batches"], j["samples"]' '(True, 3, 14)'
is "$(sum "$first" "$second")" "$wanted" "the sum of two runs"
run 0 feed packed --recipe "$recipe" --state state
has out '^Nothing was left to feed'
is "$(hash_fed packed --recipe "$recipe" --state state --epochs 2)" "$(hash_fed packed --recipe "$recipe" --epoch 1)" \
    "the epoch behind a state"
echo '{' >wrong
run 1 feed packed --recipe "$recipe" --state wrong
has err '^millrace: wrong: '
is "$(cat wrong)" '{' "what is no state"
is "$(find . -maxdepth 1 -name '*.tmp' | wc -l)" 0 "temporary files"

# What is told, to programs and to people.
run 0 feed packed --recipe "$recipe" --batch 8 --epochs 2 --sink hash --json
is_json out
is_empty err
json_is out 'j["samples"], j["batches"], j["epochs"], j["bad"], j["dataset"], j["form"], j["layout"]' \
    "(60, 8, 2, 0, 'packed', 'jpeg', 'packed')"
json_is out 'j["recipe"], j["output"]["shape"], j["output"]["dtype"], j["output"]["layout"]' \
    "('$recipe', [3, 32, 32], 'f32', 'nchw')"
json_is out 'j["epoch_hash"] == j["epoch_hashes"][1]["hash"], [(e["epoch"], e["samples"]) for e in j["epoch_hashes"]]' \
    '(True, [(0, 30), (1, 30)])'
json_is out 'j["bottleneck"] in ("cores", "storage", "consumer", "none") and all(isinstance(j[k], (int, float)) for k in (
    "seconds images_per_second core_seconds core_ms_per_image rss_bytes rss_peak_nbytes first_batch_seconds seed rank world"
    " threads slots consumer_stalls consumer_stall_seconds consumer_p50_us consumer_p99_us thread_idle_seconds"
    " thread_wait_seconds ready_mean read_depth_mean stored_nbytes reads_cached reads_waited memory_nbytes substitutes").split())' True
json_is out 'len(j["stages"]) > 1 and all(set(s) == {"name", "count", "seconds", "share", "nbytes", "p50_us", "p99_us"} for s in j["stages"])' True
json_is out 'abs(sum(s["share"] for s in j["stages"]) - 1) < 1e-4 and j["rss_bytes"] > 10**6 and j["world"]' 1
run 0 feed packed --recipe "$recipe" --batch 8 --step-time 1.5ms --json
json_is out 'j["step_seconds"]' 0.0015
json_is out 'j["epoch_hash"], j["epoch_hashes"]' '(None, None)'
run 0 feed packed --recipe "$recipe" --batch 8 --sink hash --step-time 1ms
is_empty err
has out '^Fed 30 images in [0-9.]+ s on [0-9]+ threads?: [0-9,.]+ images/s, [0-9.]+ core-ms an image$'
has out '^  batches +4 of 8 x 3 x 32 x 32 f32 nchw, in 1 epoch$'
has out '^  stage +images +p50 +p99 +bytes +share of thread time$'
has out "^  hash +$wanted of 30 images of epoch 0\$"
has out '^  binds +(cores|storage|consumer|none): '
has out '^  to change +[a-z]'
is "$(LC_ALL=C sed 's/[^ -~]//g' out | awk 'length > 80' | wc -l)" 0 "long lines of the report"

# Recipes: what is wrong, with a mark below it.
run 2 feed packed
has err '^millrace: feed: --recipe is missing'
is "$(grep -c "^  --recipe '" err)" 3 "examples of recipes"
sed -n "s/^  --recipe '\([^']*\)'.*/\1/p" err | while read -r example; do
    "$MILLRACE" feed packed --recipe "$example" --max-batches 1 >/dev/null 2>said || echo "$example: $(cat said)"
done >wrong
is_empty wrong
run 2 feed packed --recipe 'rrc(32) flp normalize(imagenet)'
is_empty out
is "$(sed -n 1p err)" '  rrc(32) flp normalize(imagenet)' "the recipe that is wrong"
is "$(sed -n 2p err)" '          ^' "the mark below it"
has err '^millrace: feed: --recipe: .*flip'
run 2 feed packed --recipe 'flip' --json
is_empty out
has err '^millrace: feed: --recipe: '
lacks err '^ *\^$'

# Options that do not go together.
wrong() { # PATTERN ARGUMENT...
    pattern=$1
    shift
    run 2 feed packed --recipe "$recipe" "$@"
    has err "^millrace: feed: $pattern"
    is_empty out
    is "$(wc -l <err)" 1 "lines about $*"
}
wrong '--rank and --world go together' --rank 1
wrong '--rank cannot be 2 in a world of 2' --rank 2 --world 2
wrong '--block is for --order=windowed, not for shuffled' --block 16
wrong '--repeats is for --order=repeated' --repeats 2 --order windowed
wrong '--order=weighted needs --weights' --order weighted
wrong '--bad-max is for' --bad-max 3
wrong '--bad-max cannot be 0' --bad skip --bad-max 0
wrong '--timeout cannot be 0' --timeout 0
wrong '--max-batches cannot be 0' --max-batches 0
wrong '--sink=npy needs a folder' --sink npy
wrong '--sink=raw needs a file' --sink raw
wrong '--out is for --sink=npy and --sink=raw' --out x
wrong '--json and the images' --sink raw --out - --json

# Orders.
awk 'BEGIN { for (i = 0; i < 30; i++) print i == 4 ? 1 : 0 }' >weights
run 0 feed packed --recipe "$recipe" --weights weights --draws 12 --json
json_is out 'j["order"], j["samples"]' "('weighted', 12)"
head -n 29 weights >few
run 1 feed packed --recipe "$recipe" --weights few
has err '^millrace: few: has 29 lines, but packed has 30 samples'
(cat few && echo x) >bad
run 1 feed packed --recipe "$recipe" --weights bad
has err '^millrace: bad: line 30 is no number from 0 up$'
run 0 feed packed --recipe "$recipe" --order repeated --repeats 2 --json
run 0 feed packed --recipe "$recipe" --order windowed --block 4 --window 8 --json
json_is out 'j["samples"]' 30
run 0 feed packed --recipe "$recipe" --batch 8 --drop-last --json
json_is out 'j["samples"], j["batches"]' '(24, 3)'

# Files for NumPy, and the images alone.
run 0 feed packed --recipe 'short(40) center(32x24)' --order sequential --batch 8 --sink npy -o arrays
has out '^  written +16 files, [0-9.]+ kB to arrays$'
run 0 feed packed --recipe 'short(40) center(32x24)' --order sequential --batch 8 --sink raw -o raw
cat >read.py <<'END'
import ast, glob, struct, sys
names = sorted(n for n in glob.glob("arrays/epoch0000-position*.npy") if n.count(".") == 1)
def read(name):
    b = open(name, "rb").read()
    assert b[:8] == b"\x93NUMPY\x01\x00", name
    n, = struct.unpack("<H", b[8:10])
    assert (10 + n) % 64 == 0 and b[9 + n:10 + n] == b"\n", name
    h = ast.literal_eval(b[10:10 + n].decode())
    assert sorted(h) == ["descr", "fortran_order", "shape"] and h["fortran_order"] is False, name
    return h["descr"], h["shape"], b[10 + n:]
images, labels = [], []
for name in names:
    t, shape, b = read(name)
    assert t == "|u1" and shape[1:] == (3, 24, 32) and len(b) == shape[0] * 3 * 24 * 32, (name, t, shape, len(b))
    images.append(b)
    t, lshape, b = read(name.replace(".npy", ".labels.npy"))
    assert t == "<i8" and lshape == shape[:1], name
    labels += struct.unpack("<%dq" % lshape[0], b)
    t, lshape, b = read(name.replace(".npy", ".ordinals.npy"))
    assert t == "<u8" and struct.unpack("<%dQ" % lshape[0], b) == tuple(range(len(labels) - lshape[0], len(labels))), name
    t, lshape, b = read(name.replace(".npy", ".mask.npy"))
    assert t == "|u1" and b == bytes(lshape[0]), name
assert b"".join(images) == open("raw", "rb").read()
print(names[-1], len(labels), labels == sorted(labels), set(labels))
END
is "$(python3 read.py 2>&1)" "arrays/epoch0000-position000000024.npy 30 True {0, 1, 2}" "the arrays"
"$MILLRACE" feed packed --recipe 'short(40) center(32x24)' --order sequential --sink raw -o - 2>err >piped
cmp -s piped raw || fail "raw through a pipe is not raw"
has err '^Fed 30 images'
run 1 feed packed --recipe 'rrc(32)' --sink raw -o raw
has err '^millrace: raw: is there already; --force replaces it$'
cmp -s piped raw || fail "a file was replaced without --force"
run 1 feed packed --recipe 'rrc(32)' --batch 8 --sink npy -o arrays
has err '^millrace: arrays/epoch0000-position000000000.npy: is there already; --force replaces it$'
run 0 feed packed --recipe 'rrc(32)' --batch 8 --sink npy -o arrays --force
run 1 feed packed --recipe 'rrc(32)' --sink raw -o missing/raw --json
json_is out 'j["error"]["code"]' MR_EIO
run 0 feed packed --recipe 'rrc(8) normalize(imagenet)' --sink npy -o floats
head -c 128 floats/epoch0000-position000000000.npy | tail -c +11 >head
has head "<f4.*\(30, 3, 8, 8\)"
run 0 feed packed --recipe 'rrc(8) normalize(imagenet) dtype(bf16)' --sink npy -o brains
head -c 128 brains/epoch0000-position000000000.npy | tail -c +11 >head
has head "<u2"
has err '^millrace: note: NumPy has no bf16'
run 0 feed packed --recipe 'rrc(8)' --batch 8 --rank 1 --world 2 --sink npy -o ranks
[ -e ranks/epoch0000-position000000000-rank0001.npy ] || fail "a rank's file lacks its number"

# A bad sample: fails, is skipped, or is replaced, and is listed.
cp -r set damaged
victim=$(find damaged -name '*.jpeg' | LC_ALL=C sort | sed -n 8p)
head -c 300 "$victim" >cut && cp cut "$victim"
run 1 feed damaged --recipe "$recipe" --batch 8
has err "$(basename "$victim")"
has err '^millrace: note: --bad=skip and --bad=replace go on'
run 1 feed damaged --recipe "$recipe" --batch 8 --json
json_is out 'j["error"]["code"].startswith("MR_E")' True
for policy in skip replace; do
    run 0 feed damaged --recipe "$recipe" --batch 8 --bad $policy --quarantine $policy.jsonl --json
    json_is out 'j["samples"], j["bad"]' '(30, 1)'
    is "$(wc -l <$policy.jsonl)" 1 "lines of the quarantine with $policy"
    is_json $policy.jsonl
    has $policy.jsonl "$(basename "$victim")"
done
run 0 feed damaged --recipe "$recipe" --batch 8 --bad skip --quarantine again.jsonl
has out '^  bad +1 bad sample.*listed in again.jsonl$'
is "$(hash_fed damaged --recipe "$recipe" --bad skip --threads 1)" "$(hash_fed damaged --recipe "$recipe" --bad skip --threads 3)" \
    "skipping on any number of threads"
run 0 feed damaged --recipe "$recipe" --bad skip --bad-max 1
another=$(find damaged -name '*.jpeg' | LC_ALL=C sort | sed -n 20p)
cp cut "$another"
run 1 feed damaged --recipe "$recipe" --bad skip --bad-max 1
run 0 feed damaged --recipe "$recipe" --bad skip --bad-max 2 --quarantine both.jsonl
is "$(wc -l <both.jsonl)" 2 "lines of the quarantine with two bad samples"

# A signal ends it with a report, and a state to go on from.
"$MILLRACE" feed packed --recipe "$recipe" --batch 8 --epochs 0 --step-time 20ms --state ended --progress json \
    >told 2>said </dev/null &
loop=$!
tries=0
until grep -q '"verb": "feeding"' said || [ $tries -gt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $loop
wait $loop
is $? 143 "the exit code of a feed that is ended"
has told '^Fed [0-9,]+ images'
is_json ended
has said '^millrace: feed: stopped; the same command goes on where it stopped$'

# Also while it waits for a batch that takes minutes: ten thousand times a large PNG.
"$MILLRACE" generate large --count 1 --forms png --size 1600x1200 >/dev/null || fail "generate"
echo 1 >one
"$MILLRACE" feed large --recipe 'rrc(8)' --weights one --draws 10000 --batch 10000 --slots 2 --quarantine begun \
    >told 2>said </dev/null &
loop=$!
tries=0
until [ -e begun ] || [ $tries -gt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $loop
wait $loop
is $? 143 "the exit code of a feed that is ended as it waits"
has told '^No batch was fed$'

# What cannot be written is said, and what nobody writes into is not waited for.
if [ -c /dev/full ]; then
    run 1 feed damaged --recipe 'rrc(16)' --bad skip --quarantine /dev/full
    has err '^millrace: /dev/full: not all bad samples could be listed in it$'
fi
mkfifo pipe
run 1 feed packed --recipe 'rrc(16)' --state pipe
has err '^millrace: pipe: is no file: a state is kept in one$'
run 1 feed packed --recipe 'rrc(16)' --weights pipe
run 1 feed packed --recipe 'rrc(16)' --state missing/state
has err 'missing/state: '

finish
