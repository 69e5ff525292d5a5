#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a terminal gets: colors, a progress line, and neither when it is dumb.
. "$(dirname "$0")/common"

if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "skipped: no terminal to be had: no command 'script', or no /dev/ptmx"
    exit 77
fi
escape=$(printf '\033')
on_terminal() { # LINE: what it shows on a terminal, into the file shown
    script -qec "$1" /dev/null </dev/null >shown 2>&1
}
"$MILLRACE" generate set --count 6 --forms jpeg --size 320x240 >/dev/null || fail "generate"

on_terminal "$MILLRACE help convert"
has shown "$escape\[1mUsage"
on_terminal "NO_COLOR=1 $MILLRACE help convert"
lacks shown "$escape"
has shown '^Usage'
on_terminal "NO_COLOR= $MILLRACE help convert"
has shown "$escape\[1mUsage"
on_terminal "TERM=dumb $MILLRACE help convert"
lacks shown "$escape"
on_terminal "$MILLRACE info set/*/*"
has shown "$escape\[1mform"

# The line is drawn at the beginning, ten times a second, and at the end.
on_terminal "$MILLRACE decode --threads=1 --repeat=20 set"
has shown 'decoding .* of 120  [0-9]+ a second  [0-9]+:[0-9][0-9] left'
has shown "$escape\[K"
has shown 'Decoded 120 images'
on_terminal "NO_COLOR=1 $MILLRACE decode --threads=1 --repeat=20 set"
has shown 'decoding .* of 120'
lacks shown "$escape\[3[0-9]m"
on_terminal "TERM=dumb $MILLRACE decode --threads=1 --repeat=20 set"
lacks shown 'decoding .* of 120'
lacks shown "$escape"
on_terminal "LC_ALL=C $MILLRACE decode --threads=1 --repeat=20 set"
has shown 'decoding \['
on_terminal "$MILLRACE decode --threads=1 --repeat=20 set 2>piped"
lacks shown 'decoding .* of 120'
is_empty piped

# Of a trainer: where it is, and what it waited for.
on_terminal "$MILLRACE feed set --recipe 'rrc(32)' --batch 1 --step-time 30ms"
has shown 'feeding .* of 6 .*epoch 0  batch [0-9]+  [0-9]+ stalls?'
has shown 'Fed 6 images'
on_terminal "$MILLRACE feed set --recipe 'rrc(32)' --batch 1 2>piped"
lacks shown feeding
is_empty piped

# An image is no text.
on_terminal "$MILLRACE convert --form=pnm set/land/00000.jpeg -; echo code \$?"
has shown 'standard output is a terminal'
has shown '^code 2'
finish
