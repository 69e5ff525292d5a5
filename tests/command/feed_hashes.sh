#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same epoch_hash for all numbers of threads, layouts, forms, instruction sets, worlds and restarts: bench/hashes over a few painted images.
hashes=$(cd "$(dirname "$0")/../../bench" && pwd)/hashes
. "$(dirname "$0")/common"

run 0 generate images --count 37 --size 96x80 --forms jpeg
SCRATCH=. MILLRACE=$MILLRACE sh "$hashes" --quick images >table 2>err || fail "bench/hashes: exit code $?"
lacks err 'gives no epoch_hash' # where a state goes on is told there
has table '^[0-9]+ hashes, 0 not as they should be\.$'
lacks table '\| NO \|$'
lacks table '0000000000000000'
has table '^\| packed, l3, sum of the ranks of 7 \| [0-9a-f]{16} \| yes \|$'
has table '^\| folder, stopped after 2 batches, and the rest by 3 ranks in batches of 3 \| [0-9a-f]{16} \| yes \|$'
for name in plain places colors policies mixed; do has table "^$name: "; done
has table '^\| packed, l3, nothing fused \| [0-9a-f]{16} \| yes \|$'
has table '^\| folder, sum of the ranks of 12, 1 samples each \| [0-9a-f]{16} \| yes \|$'
is "$(ls -d hashes-* 2>/dev/null)" "" "what is left"

# It sees a hash that is another one, and a command that gives none.
cat >liar <<'LIAR'
#!/bin/sh
case $* in
*'--form l3 '*'--rank 4 --world 6'*) "$REAL" "$@" | sed 's/"epoch_hash": *"[0-9a-f]*"/"epoch_hash": "0123456789abcdef"/' ;;
*) exec "$REAL" "$@" ;;
esac
LIAR
chmod +x liar
RECIPES=plain REAL=$MILLRACE SCRATCH=. MILLRACE=./liar sh "$hashes" --quick images >table 2>err
is $? 1 "exit code of bench/hashes when one rank's hash is another"
has table '^\| packed, l3, sum of the ranks of 6 \| [0-9a-f]{16} \| NO \|$'
has table '^[0-9]+ hashes, 1 not as they should be\.$'
printf '#!/bin/sh\ncase $1 in feed) exit 1 ;; esac\nexec "$REAL" "$@"\n' >mute
chmod +x mute
RECIPES=plain REAL=$MILLRACE SCRATCH=. MILLRACE=./mute sh "$hashes" --quick images >table 2>err
is $? 1 "exit code of bench/hashes when nothing is fed"
has err 'gives no epoch_hash$'
finish
