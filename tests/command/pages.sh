#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The man page and the completions, as the command prints them.
. "$(dirname "$0")/common"

run 0 help --man
cp out millrace.1
has millrace.1 '^\.Dt MILLRACE 1'
for command in info convert hash verify decode index pack unpack merge ls cat feed show recipe devices generate help; do
    has millrace.1 "^\.Ss millrace $command"
    # Every option that --help shows is on the page.
    for option in $("$MILLRACE" help $command | sed -n 's/^  .*--\([a-z-]*\).*   .*/\1/p'); do
        has millrace.1 "Fl -($(printf %s "$option" | sed 's/-/\\\\-/g'))( |\$|,)"
    done
done
if command -v mandoc >/dev/null 2>&1; then
    mandoc -Tlint -W warning millrace.1 >lint 2>&1 || fail "mandoc finds faults"
    is_empty lint
    mandoc -Tascii millrace.1 | sed 's/.\x08//g' >page
    has page 'EXIT STATUS'
    has page '0 when all went well'
fi

run 2 help --completion tcsh
for shell in bash zsh fish; do
    run 0 help --completion $shell
    cp out completion.$shell
    has completion.$shell accept-damaged
    if command -v $shell >/dev/null 2>&1; then
        $shell -n completion.$shell || fail "$shell does not take its completion"
    fi
done

command -v bash >/dev/null 2>&1 || finish
cat >complete.bash <<'END'
. ./completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_millrace
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd " "
END
completes() { # EXPECTED WORD...
    expected=$1
    shift
    is "$(bash complete.bash "$@" 2>&1)" "$expected" "bash completes '$*'"
}
mkdir 'a folder' && : >'a file' && : >b.png
completes 'cat convert decode devices feed generate hash help index info ls merge pack recipe show unpack verify' millrace ''
completes 'convert' millrace co
completes 'bilinear' millrace pack --filter bil
completes '--help --version' millrace --
completes '--quality' millrace convert --qu
completes '--reduce --region' millrace hash --re
completes 'jpeg l3 png pnm raw webp' millrace convert --form ''
completes 'jpeg' millrace convert --form = j
completes 'jpeg l3 png pnm raw webp' millrace convert --form =
completes 'hash' millrace feed --sink h
completes '1 2 4 8' millrace hash --reduce ''
completes '' millrace hash --region ''
completes 'a file a folder' millrace info a
completes 'a folder' millrace generate a
completes 'generate' millrace help g
completes 'b.png' millrace convert -q 90 b
completes '' millrace nonsense ''
# Through readline, on a terminal: the Tab key makes a whole word of half a one.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    {
        echo 'PS1= ; millrace() { printf "[%s]" "$@"; echo; }; . ./completion.bash'
        printf 'millrace conv\t--qual\t7\n'
        echo exit
    } | script -qec 'bash --norc --noprofile -i' /dev/null >typed 2>&1
    has typed '\[convert\]\[--quality\]\[7\]'
fi
if command -v fish >/dev/null 2>&1; then
    is "$(HOME=$PWD fish -c 'source completion.fish; complete -C "millrace conv"' 2>/dev/null | cut -f 1)" convert "fish completes"
    is "$(HOME=$PWD fish -c 'source completion.fish; complete -C "millrace hash --redu"' 2>/dev/null | cut -f 1)" --reduce \
        "fish completes an option"
fi
finish
