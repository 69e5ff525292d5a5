#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which devices there are, what each can do, and why one cannot be used.
. "$(dirname "$0")/common"

# with NAME=VALUE COMMAND...: with this in the environment.
with() {
    setting=$1
    shift
    export "${setting?}"
    "$@"
    unset "${setting%%=*}"
}

run 0 devices
is_empty err
has out '^cpu +.*, [0-9]+ threads?$'
has out '^sim '
is "$(sed -n 1s/\ .*//p out)" cpu "the first device"
is "$(grep -c '^ *decodes every form$' out)" 2 "devices that decode all: cpu, sim"
is "$(grep -c '^ *does every step$' out)" 2 "devices that do all: cpu, sim"
has out '^opencl(:0)? +'

run 0 devices --json
is_json out
json_is out 'j[0]["device"], j[0]["usable"], j[0]["lacks"], j[-1]["device"]' "('cpu', True, [], 'sim')"
json_is out 'j[0]["decodes"]' "['jpeg', 'png', 'webp', 'pnm', 'raw', 'l3']"
json_is out 'all(d["device"].startswith("opencl") for d in j[1:-1]) and len(j) >= 3' True
json_is out 'all(("why" in d) != d["usable"] for d in j)' True
nbytes_only out memory_nbytes
with MILLRACE_CPU=portable run 0 devices
has out '^ +portable$'

# No library.
with MILLRACE_OPENCL=/nowhere.so run 0 devices
has out '^opencl +cannot be used: the OpenCL library that was asked for cannot be$'
with MILLRACE_OPENCL=/nowhere.so run 0 devices --json
is_json out
json_is out 'len(j), j[1]["device"], j[1]["usable"], "/nowhere.so" in j[1]["why"]' "(3, 'opencl', False, True)"

# Wrong.
run 2 devices opencl
has err "one too many"

# On the fake device of the tests.
[ -n "${FAKE:-}" ] && [ -e "$FAKE" ] || finish
export MILLRACE_OPENCL="$FAKE"
with FAKE_OPENCL=platforms=0 run 0 devices
has out '^opencl +cannot be used: OpenCL is there, but no driver for it$'
with FAKE_OPENCL=devices=0 run 0 devices --json
json_is out 'len(j), "finds no device" in j[1]["why"]' '(3, True)'
with FAKE_OPENCL=exact=0 run 0 devices
has out '^opencl:0 '
has out "cannot be used: its floats are not IEEE's"
with FAKE_OPENCL=kind=discrete,devices=2 run 0 devices
has out '^opencl:1 .*compute units, .* of its own memory$'
has out 'the host decodes .*png'
has out 'does every step but'
lacks out "host's own cores"
with FAKE_OPENCL=kind=cpu run 0 devices
has out "host's own cores: --device=auto leaves it out"
finish
