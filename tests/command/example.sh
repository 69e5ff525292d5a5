#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example that is a script runs to its end.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common"

export MILLRACE
sh "$root/examples/pack.sh" tour >out 2>err || {
    fail "examples/pack.sh"
    sed 's/^/  /' err
}
is_empty err
[ -d tour/cache/millrace/index ] || fail "its indexes are kept elsewhere"
has out '^Merged 40 samples into /.*/tour/train: 4 shards, '
has out 'all whole$'
is "$(tail -n 1 out)" 'the same bytes' "the last line"
finish
