#!/bin/sh
# What the virtual environment itself stands on, checked before there is one: python3 >= 3.11 with venv, g++, make.
# Each missing tool gives one line with the command that installs it; exit code 3.
python=${1:-python3}
status=0

missing() {
    echo "nicloop: $1 is missing: $2" >&2
    status=3
}

if ! command -v "$python" > /dev/null; then
    missing "$python" "apt-get install python3 python3-venv"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    missing "Python 3.11 or later" "apt-get install python3 (found $("$python" --version 2>&1)); or make PYTHON=python3.11"
elif ! "$python" -c 'import venv, ensurepip' 2> /dev/null; then
    missing "python3's venv" "apt-get install python3-venv"
fi
command -v g++ > /dev/null || missing "g++" "apt-get install g++"
case $PWD in
    *' '*)
        echo "nicloop: the path of this checkout has a space in it, which Verilator's makefiles can't take: $PWD" >&2
        status=3
        ;;
esac
exit $status
