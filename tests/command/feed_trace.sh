#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# feed --trace: who prepared what when, on this machine and on simulated ones; and what the report says of devices.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
command -v python3 >/dev/null 2>&1 || exit 77
machines=$(cd "$(dirname "$0")/../../examples/hardware" && pwd)
recipe='rrc(32) flip'

cat >check.py <<'END'
"""check.py TRACE SAMPLES EPOCHS: what must be true of every trace. Prints a line for each defect."""
import json, sys
from collections import Counter, defaultdict

trace = json.load(open(sys.argv[1], encoding="utf-8"))
samples, epochs = int(sys.argv[2]), int(sys.argv[3])
events = trace["traceEvents"]
threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
tasks = [e for e in events if e.get("cat") == "task"]
back = [e for e in events if e.get("cat") == "given back" and e["ph"] in "Xi"]


def must(truth, what):
    if not truth:
        print(f"{sys.argv[1]}: {what}")


must(trace["displayTimeUnit"] == "ms", "the unit of times")
must(len(threads) == len(set(threads.values())), "two tracks have one name")
must(all(e["tid"] in threads and e["pid"] in processes for e in events if e["ph"] in "Xi"), "a track without a name")
must(all(threads[e["tid"]].startswith(processes[e["pid"]]) for e in tasks), "a lane is in another device's process")
counts = Counter((e["args"]["epoch"], e["args"]["sample"]) for e in tasks)
must(sorted(counts) == [(e, s) for e in range(epochs) for s in range(samples)], "not every sample is there")
must(set(counts.values()) == {1}, "a sample is there twice")
must(trace["otherData"]["tasks"] == len(tasks) + len(back), "the number of tasks")
must(min(e["ts"] for e in events if "ts" in e) == 0, "times do not begin at 0")
for e in tasks:
    a = e["args"]
    must(a["key"] and a["form"] and a["reason"] and a["fused"] >= 1, f"something is missing in {a}")
    must(a["actual_us"] == e["dur"], f"{a['actual_us']} us are drawn as {e['dur']}")
    if a["predicted_us"] > 1:
        off = (a["actual_us"] - a["predicted_us"]) / a["predicted_us"]
        must(abs(off - a["error"]) < 0.002 or a["error"] == 1e6, f"the error of {a} is {off}")
must(all("mishap" in e["args"] for e in back), "nobody says why a sample was given back")

ns = lambda us: round(us * 1000)
lanes = defaultdict(list)
for e in events:
    if e["ph"] == "X":
        lanes[e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["cat"] != "submission", e["args"]))
for tid, slices in lanes.items():
    free, outer = 0, None  # since when nobody is on the track; the submission that tasks are now in, and how far
    for begin, end, is_task, a in sorted(slices, key=lambda s: (s[0], s[2] and s[1] > s[0], s[1], s[2])):
        if is_task and outer is not None and begin >= outer[0] and end <= outer[1]:
            must(begin == outer[2], f"a submission of {threads[tid]} is not divided at {begin} ns")
            must((a["epoch"], a["batch"]) == outer[3], f"a submission of {threads[tid]} has tasks of two batches")
            outer[2] = end
            continue
        must(outer is None or outer[2] == outer[1], f"a submission of {threads[tid]} is not filled before {begin} ns")
        must(begin >= free, f"slices overlap on {threads[tid]} at {begin} ns")
        outer = None if is_task else [begin, end, begin, (a["epoch"], a["batch"])]
        free = end
batches = {(e["args"]["epoch"], e["args"]["batch"]): e for e in events if e.get("cat") == "batch"}
members = defaultdict(list)
for e in tasks + back:
    members[e["args"]["epoch"], e["args"]["batch"]].append(e)
must(set(batches) == set(members), "batches without tasks, or tasks without a batch")
for which, its in members.items():
    b = batches[which]
    must(ns(b["ts"]) == min(ns(e["ts"]) for e in its), f"batch {which} does not begin with its first task")
    must(ns(b["ts"]) + ns(b["dur"]) == max(ns(e["ts"]) + ns(e.get("dur", 0)) for e in its), f"the end of batch {which}")
    must(b["args"]["tasks"] == len(its), f"the tasks of batch {which}")
    must(all(e["bind_id"] == b["bind_id"] for e in its if e["ph"] == "X"), f"arrows of batch {which}")
under_way = [e["args"]["batches"] for e in events if e["ph"] == "C"]
must(under_way[-1] == 0 and min(under_way) == 0 and max(under_way) >= 1, "the number of batches under way")
END

# check TRACE SAMPLES EPOCHS
check() {
    is_json "$1"
    python3 check.py "$@" >defects 2>&1 || fail "$1: $(tail -1 defects)"
    is_empty defects
}

"$MILLRACE" generate set --count 60 --classes 3 --forms jpeg --size 200x150 >/dev/null || fail "generate"
run 0 pack set -o packed --forms jpeg # whose index knows how large images are: what memory they need

# 1. The host alone, whoever asks for nothing else.
run 0 feed set --recipe "$recipe" --batch 8 --threads 3 --epochs 2 --trace host.json
has out '^  trace +host.json, 120 tasks; open it at ui.perfetto.dev$'
has out '^  policy +auto$'
has out '^  cpu +3 +120 +120 +0 '
lacks out '[Ss]imulated|mishap'
check host.json 60 2
json_is host.json 'sum(e["name"] == "thread_name" and "lane" in e["args"]["name"] for e in j["traceEvents"])' 3
json_is host.json 'j["otherData"]["simulated"], "note" in j["otherData"], j["otherData"]["policy"]' "(False, False, 'auto')"
run 0 feed set --recipe "$recipe" --batch 8 --json
json_is out 'j["devices"], j["trace"], j["simulated"], j["beside"]' "([], None, False, None)"

# 2. Simulated machines, by policies; everything is simulated, and says so.
for policy in auto fusion intrabatch interbatch naive-device; do
    run 0 feed packed --recipe "$recipe" --batch 16 --epochs 3 --device "sim:$machines/small-node.json" --policy $policy \
        --beside overlapped --sink hash --trace $policy.json --json
    check $policy.json 60 3
    json_is $policy.json 'j["otherData"]["note"], j["otherData"]["policy"], j["otherData"]["beside"]' \
        "('times are of a simulated machine', '$policy', 'overlapped')"
    json_is $policy.json 'sorted(e["args"]["name"] for e in j["traceEvents"] if e["name"] == "process_name")' \
        "['batches', 'cpu', 'gpu0']"
    json_is $policy.json 'sum(e["name"] == "thread_name" and "lane" in e["args"]["name"] for e in j["traceEvents"])' 5
    json_is out 'j["simulated"], j["policy"], j["beside"]' "(True, '$policy', 'overlapped')"
    json_is out 'sum(d["samples"] for d in j["devices"]), j["trace"]["tasks"]' "(180, 180)"
    json_is out 'all(0 <= d["busy_share"] <= 1 for d in j["devices"])' True
    mv out $policy.out
done
json_is naive-device.json 'any(e.get("cat") == "submission" and e["args"]["fused"] > 1 for e in j["traceEvents"])' True
run 0 feed packed --recipe "$recipe" --batch 16 --device "sim:$machines/small-node.json" --trace auto2.json --beside overlapped
is "$(head -1 out | cut -c 1-11)" "Simulated: " "the first line of a simulated run"
has out 'images/s \(simulated\)$'
has out '^  policy +auto, beside the trainer: overlapped$'
lacks out 'core-ms'
run 0 feed set --recipe "$recipe" --batch 16 --device sim --trace plain.json
check plain.json 60 1
json_is plain.json 'j["otherData"]["note"]' 'times are of a simulated machine'

# 3. Devices that fail: what they gave back is seen, and prepared once all the same.
run 0 feed packed --recipe "$recipe" --batch 16 --epochs 20 --device "sim:$machines/failing-device.json" --trace failing.json
check failing.json 60 20
has out '^  mishap +gpu0: '
has out '^  mishap +gpu1: did not answer in time, set aside once; its [0-9]+ images? '
json_is failing.json 'any(e["ph"] == "b" and e["cat"] == "given back" for e in j["traceEvents"])' True
run 0 feed packed --recipe "$recipe" --batch 16 --epochs 20 --device "sim:$machines/failing-device.json" --json
json_is out '[d["late"] for d in j["devices"]]' "[0, 0, 1]"
json_is out '[d["failures"] == d["gave_back"] + d["late"] + d["damaged"] + d["no_memory"] for d in j["devices"]]' \
    "[True, True, True]"
json_is out 'j["devices"][2]["returned"] > 0 and sum(d["samples"] for d in j["devices"]) == 1200' True

# 4. Names are hostile; bad samples and what takes their place are seen.
mkdir odd && cp "$(find set -name '*.jpeg' | sort | head -1)" 'odd/"},{"ph":"X\.jpeg'
cp "$(find set -name '*.jpeg' | sort | head -1)" "odd/$(printf 'new\nline\377').jpeg"
cp "$(find set -name '*.jpeg' | sort | head -1)" "odd/well.jpeg"
printf 'no image' >odd/bad.jpeg
run 0 feed odd --recipe "$recipe" --batch 2 --bad skip --trace odd.json
is_json odd.json
json_is odd.json 'any("\"},{\"ph\":\"X\\" in e["args"]["key"] for e in j["traceEvents"] if e.get("cat") == "task")' True
json_is odd.json 'sum(e["args"].get("code") == "MR_EFORMAT" for e in j["traceEvents"]) >= 1' True
json_is odd.json 'sum("bad sample" in e["args"].get("reason", "") for e in j["traceEvents"]) >= 1' True

# 5. Where it cannot be written, that is said before anything is done, and nothing is left or replaced there.
run 2 feed set --recipe "$recipe" --batch 8 --trace nowhere/trace.json
has err 'nowhere/trace.json.*No such file or directory'
[ ! -e nowhere ] || fail "a folder was made"
mkdir folder
run 2 feed set --recipe "$recipe" --batch 8 --trace folder
has err 'trace=folder: there is something that is no file'
mkfifo pipe
run 2 feed set --recipe "$recipe" --batch 8 --trace pipe
[ -p pipe ] || fail "a pipe was replaced"
echo old >linked.json
ln -s linked.json link.json
run 0 feed set --recipe "$recipe" --batch 8 --trace link.json
[ -L link.json ] || fail "a link was replaced"
is_json linked.json
[ -z "$(find . -name '.*.tmp')" ] || fail "a temporary file is left"

# 6. Stopped, it is written all the same; a long run keeps the end.
"$MILLRACE" feed set --recipe "$recipe" --batch 8 --epochs 0 --trace stopped.json --progress json \
    >out 2>err </dev/null &
feed=$!
tries=0
until grep -q '"verb": "feeding"' err || [ $tries -gt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $feed
wait $feed
is $? 143 "the exit code of a feed that is ended"
is_json stopped.json
has out '^  trace +stopped.json, '
finish
