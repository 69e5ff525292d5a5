#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# feed --device: lists of devices give the same bytes; what is said of those that cannot be had; what the report says.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$(dirname "$PWD")/feed_devices.cache # stays: kernels take long to build
export XDG_CACHE_HOME
unset RANK WORLD_SIZE LOCAL_RANK SLURM_PROCID SLURM_NTASKS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE \
    JOB_COMPLETION_INDEX
recipe='rrc(32) flip normalize(imagenet)'
"$MILLRACE" generate set --count 40 --classes 3 --forms jpeg --size 300x260 >/dev/null || fail "generate"

# Mistakes, each with words.
refused() { # LIST PATTERN
    run 1 feed set --recipe "$recipe" --device "$1"
    has err "$2"
    is_empty out
}
refused '' 'the device has no name: cpu is the host'
refused 'opncl' 'there is no device "opncl": do you mean opencl\?'
refused 'gpu' 'there is no device "gpu": do you mean opencl\?'
refused 'tensorcore' 'there is no device "tensorcore": auto, cpu, opencl\[:N\], sim\[:FILE\], or several'
refused 'cpu,cpu' 'the device cpu is named twice'
refused 'cpu,opencl:x' 'behind the colon stands its number, from 0 on'
refused 'cpu:1' 'there is one cpu, and it has no number'
refused 'cpu,sim' '"sim" in a list: what is simulated has devices and a time of its own'
refused 'auto,cpu' 'auto is the host with every accelerator: it is named alone'
refused 'cpu,' 'a device of the list has no name'
refused 'cpu,opencl:999' 'the device opencl:999: '
run 2 feed set --recipe "$recipe" --device-memory lots
has err 'device-memory'
run 1 feed set --recipe "$recipe" --keep device
has err 'batches stay on a device \(keep\), but no accelerator is here that could have them: name one'
run 2 feed set --recipe "$recipe" --keep there
has err "keep cannot be 'there'"
run 2 feed set --recipe "$recipe" --device opencl --keep device --sink npy -o arrays
has err '--keep=device leaves batches on the device, and --sink=npy and raw write those of the host'
run 1 feed set --recipe "$recipe" --device cpu,opencl:0 --share some
has err 'cores are shared by the device cpu, not by "cpu,opencl:0"'

# Without a library: auto is the host alone, who names an accelerator is told.
MILLRACE_OPENCL=/nowhere/libOpenCL.so
export MILLRACE_OPENCL
run 0 feed set --recipe "$recipe" --batch 16 --device auto --sink hash --json
is_empty err
cp out alone
grep -q '"devices": \[\]' alone || fail "auto without accelerators has devices"
run 1 feed set --recipe "$recipe" --device opencl
has err 'OpenCL'
for list in cpu,opencl:0 cpu,opencl; do # beside the host it is left out
    run 0 feed set --recipe "$recipe" --batch 16 --device $list
    has out '^  left out +the device opencl(:0)?: the OpenCL library that was asked for cannot'
    run 0 feed set --recipe "$recipe" --batch 16 --device $list --json
    grep -q '"left_out": "the device opencl' out || fail "nothing is said of what is left out"
done
unset MILLRACE_OPENCL

# A budget, on a simulated machine: what does not fit is the host's.
cat >machine.json <<'END'
{"devices": [{"name": "cpu", "lanes": 2},
             {"name": "big", "kind": "accelerator", "speed": 4, "memory_mb": 500, "launch_us": 50, "group": 4}]}
END
command -v python3 >/dev/null 2>&1 || finish
run 0 feed set --recipe "$recipe" --batch 16 --device sim:machine.json --json --sink hash
json_is out 'j["devices"][1]["samples"] > 0' True
json_is out 'j["epoch_hash"]' "$(sed -n 's/.*"epoch_hash": "\([0-9a-f]*\)".*/\1/p' alone)"
run 0 feed set --recipe "$recipe" --batch 16 --device sim:machine.json --device-memory 1000 --json --sink hash
json_is out 'j["devices"][1]["samples"], j["devices"][0]["samples"]' "(0, 40)"
json_is out 'j["epoch_hash"]' "$(sed -n 's/.*"epoch_hash": "\([0-9a-f]*\)".*/\1/p' alone)"

# For real, where there is an OpenCL device.
"$MILLRACE" feed set --recipe "$recipe" --batch 16 --device opencl -n 1 >out 2>err || finish
wanted=$(sed -n 's/.*"epoch_hash": "\([0-9a-f]*\)".*/\1/p' alone)
for list in opencl cpu,opencl opencl:0,cpu auto 'cpu,opencl:0 --policy fusion' 'cpu,opencl:0 --policy naive-device'; do
    # shellcheck disable=SC2086 # a list, and perhaps a policy
    run 0 feed set --recipe "$recipe" --batch 16 --device $list --json --sink hash
    json_is out 'j["epoch_hash"]' "$wanted"
    json_is out 'j["devices"] == [] or sum(d["samples"] for d in j["devices"]) >= 40' True
done
for list in opencl cpu,opencl; do # and they stay there
    run 0 feed set --recipe "$recipe" --batch 16 --device $list --keep device --json --sink hash
    json_is out 'j["epoch_hash"]' "$wanted"
done
"$MILLRACE" generate large --count 8 --forms jpeg --size 1500x1200 >/dev/null || fail "generate"
run 0 feed large --recipe "$recipe" --batch 4 --device opencl --device-memory 2097152 # a lane has 1 MiB
has out '^  on host +opencl:[0-9]+: 8 images prepared by its threads on the host$'
run 0 feed large --recipe "$recipe" --batch 4 --device opencl --device-memory 2097152 --json
json_is out 'j["devices"][0]["on_host"], j["devices"][0]["refused"]' "(8, 0)"
run 1 feed set --recipe "$recipe mixup(0.2)" --batch 16 --device opencl --keep device
has err 'the recipe mixes them \(mixup, cutmix\)'
run 0 feed set --recipe "$recipe" --batch 16 --device opencl
has out '^Fed 40 images in [0-9.]+ s on opencl:[0-9]+: '
has out '^  opencl:[0-9]+ +2 +40 '
has out '^  policy +naive-device$'
run 0 feed set --recipe "$recipe" --batch 16 --device cpu,opencl:0
has out '^Fed 40 images in [0-9.]+ s on 2 devices: '
has out '^  cpu '
has out '^  opencl:0 '
finish
