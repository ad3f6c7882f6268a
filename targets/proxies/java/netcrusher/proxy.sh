#!/bin/sh
# usage: proxy.sh HOST:PORT BACKEND_HOST:BACKEND_PORT SCRATCH_FOLDER
# Starts NetCrusher's command line directly, because its own start script passes options that newer JVMs reject. NetCrusher reads
# commands from standard input and spins at end of file. Its standard input is therefore a named pipe that is also open for writing,
# so it never reaches end of file.
set -eu
mkfifo "$3/commands"
exec java -XX:+UseG1GC -Dcrusher.socket.backlog=1024 -cp 'lib/*' org.netcrusher.tcp.main.TcpCrusherMain "$1" "$2" <> "$3/commands"
