#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, the version, and everything a person can get wrong on the command line.
. "$(dirname "$0")/common"

# Without a command: the overview, where errors go.
run 2
is_empty out
has err '^Commands'
for form in help --help -h; do
    run 0 $form
    is_empty err
    has out '^  convert '
    has out 'Exit codes: 0'
done

run 0 --version
has out '^millrace [0-9]+\.[0-9]+\.[0-9]+$'
has out '^cpu: '
is "$(wc -l <out)" 2 "lines of --version"
run 0 -V
MILLRACE_CPU=portable "$MILLRACE" --version >out
has out '^cpu: portable$'
for name in portable sse41 avx2 avx2-slowpdep avx512 neon all ''; do
    MILLRACE_CPU=$name "$MILLRACE" --version >out 2>err
    is_empty err
done
for name in typo 'avx2 avx512' ' ' AVX2; do
    MILLRACE_CPU=$name "$MILLRACE" --version >out 2>err
    is $? 0 "the exit code with an unknown MILLRACE_CPU"
    has out '^cpu: portable$'
    has err "^millrace: note: MILLRACE_CPU is '$name', which is not known and counts as portable \(one of: portable sse41 "
    is "$(wc -l <err)" 1 "lines about MILLRACE_CPU=$name"
done

# Each command tells about itself, in both ways, with an example and within 80 columns.
for command in info convert hash verify decode index pack unpack merge ls cat feed show generate help; do
    run 0 help "$command"
    cp out page
    run 0 "$command" --help
    cmp -s out page || fail "help $command differs from $command --help"
    run 0 --help "$command"
    cmp -s out page || fail "help $command differs from --help $command"
    run 0 "$command" -h
    has out '^Usage$'
    has out '^Examples$'
    has out '^    millrace '
    is "$(awk 'length > 80' out | grep -v '^    millrace' | wc -l)" 0 "lines of help $command beyond column 80"
    lacks out "$(printf '\033')"
    is "$(grep -Eo '^  -[A-Za-z],' out | sort | uniq -d | paste -sd' ')" '' "letters of $command that mean two things"
    [ "$(grep -Eoc '^  -[A-Za-z],' out)" -gt 0 ] || fail "no letters are found in the help of $command"
done
run 0 help convert
has out '-q, --quality=N'
has out '\[90\]'
lacks out 'completion'

# One clear line each, exit code 2, nothing on standard output.
wrong() { # PATTERN ARGUMENT...
    pattern=$1
    shift
    run 2 "$@"
    has err "^millrace: .*$pattern"
    is "$(wc -l <err)" 1 "lines of the error of: $*"
    is_empty out
}
wrong "unknown command 'convrt'; did you mean 'convert'" convrt
wrong "unknown command 'zzzzzz' \(" zzzzzz
wrong "unknown option '--versoin'" --versoin
wrong "'extra' is one too many: millrace --version" --version extra
wrong "'--json' is one too many: millrace --version" -V --json
wrong "help: there is no command 'me'" --help me
wrong "info: unknown option --jsn; did you mean --json" info --jsn x
wrong "convert: unknown option --qualty; did you mean --quality" convert --qualty=3 a b
wrong "convert: unknown option --sub; did you mean --subsampling" convert --sub=420 a b
wrong "info: unknown option -z" info -z x
wrong "hash: unknown option --zzzzzzzz \(" hash --zzzzzzzz x
wrong "convert: --quality cannot be '101' \(a number from 1 to 100\)" convert --quality 101 a b
wrong "convert: --quality cannot be '0'" convert -q0 a b
wrong "convert: --quality cannot be '9x'" convert -q 9x a b
wrong "convert: --quality cannot be ''" convert --quality= a b
wrong "convert: --quality needs a value" convert a b --quality
wrong "convert: -q needs a value" convert a b -q
wrong "convert: --progressive takes no value" convert --progressive=1 a b
wrong "convert: --form cannot be 'jpge'; did you mean jpeg" convert --form jpge a b
wrong "convert: --subsampling cannot be '421'" convert --subsampling 421 a b
wrong "hash: --reduce cannot be '3' \(one of: 1 2 4 8\)" hash --reduce=3 x
wrong "hash: --depth cannot be '08'" hash --depth=08 x
wrong "hash: --channels cannot be '5'" hash -c5 x
for region in 1 1,2,3 1,2,3x 1,2,0x4 1,2,3,4,5 -1,2,3,4 1,2,99999999999x4 ''; do
    wrong "hash: --region cannot be '$region' \(it is written --region=X,Y,WxH\)" hash --region="$region" x
done
wrong "generate: --seed cannot be '99999999999999999999'" generate --seed=99999999999999999999 d
wrong "generate: --forms cannot be 'jpeg=x'" generate --forms=jpeg=x d
wrong "generate: --forms cannot be 'gif'" generate --forms=gif d
wrong "generate: --forms cannot be ''" generate --forms= d
wrong "generate: --forms cannot be 'png=0'" generate --forms=png=0 d
wrong "generate: --size has to be" generate --size=4x9000 d
wrong "decode: --threads cannot be '0'" decode --threads=0 d
for time in 5 ms -1s 1,5s 5m 1.5ns '5  ms' 99999999999h ''; do
    wrong "feed: --step-time cannot be '$time' \(a time like 50ms, 1.5s or 2min\)" feed --step-time="$time" d
done
wrong "info: PATH... is missing: millrace info" info
wrong "convert: OUT is missing" convert a
wrong "convert: 'c' is one too many" convert a.png b.png c
wrong "help: there is no command 'me'" help me
wrong "no form is known by the ending of 'out.gif'" convert in.png out.gif
wrong "no form is known by the ending of '-'" convert in.png -
[ ! -e d ] || fail "a wrong command line made a folder"

# Options stand anywhere; -- ends them; the last one counts; letters join.
picture a.ppm
run 0 hash a.ppm --channels 1
cp out gray
run 0 hash -c3 -c1 -- a.ppm
cmp -s out gray || fail "-c3 -c1 is not -c1"
cp a.ppm ./-a.ppm
run 0 hash -oc1 -- -a.ppm
is "$(cut -c 1-16 out)" "$(cut -c 1-16 gray)" "the hash of -a.ppm"
finish
