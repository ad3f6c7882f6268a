#!/bin/sh
# Create a data folder with the tables, without starting a server. PostgreSQL refuses to run as root, so if this script runs as root,
# PostgreSQL's own user creates the folder.
# Usage: initialise.sh DATA
set -eu
data=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/programs.sh"
rm -rf "$data"
if [ "$(id -u)" = 0 ]; then
    room=$(mktemp -d)
    trap 'rm -rf "$room"' EXIT
    cp "$here"/*.sh "$here"/*.sql "$here"/*.conf "$room"
    chown -R postgres: "$room"
    setpriv --reuid=postgres --regid=postgres --clear-groups sh "$room/initialise.sh" "$room/data"
    cp -r "$room/data" "$data"
    exit
fi
"$programs/initdb" --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --wal-segsize=1 --no-sync
cat "$here/postgresql.conf" >>"$data/postgresql.conf"
cp "$here/pg_hba.conf" "$data/pg_hba.conf"
say() {
    "$programs/postgres" --single -j -c exit_on_error=on -c log_min_messages=warning -D "$data" "$@" >/dev/null
}
printf "CREATE ROLE benchmarkdbuser LOGIN PASSWORD 'benchmarkdbpass';\n\nCREATE DATABASE hello_world OWNER benchmarkdbuser;\n" | say postgres
say hello_world <"$here/tables.sql"
