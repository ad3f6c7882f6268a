#!/bin/sh
# usage: proxy.sh HOST:PORT BACKEND_HOST:BACKEND_PORT SCRATCH_FOLDER
# Starts NetCrusher's command line without the script that comes with it, whose options new JVMs refuse. It reads commands from
# standard input and spins when that ends; a named pipe that it has open for writing too never ends.
set -eu
mkfifo "$3/commands"
exec java -XX:+UseG1GC -Dcrusher.socket.backlog=1024 -cp 'lib/*' org.netcrusher.tcp.main.TcpCrusherMain "$1" "$2" <> "$3/commands"
