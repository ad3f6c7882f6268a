#!/bin/sh
# Create a data folder with the tables, without starting a server. If the script runs as root, MariaDB's own user creates the folder.
# Usage: initialise.sh DATA
set -eu
data=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"
rm -rf "$data"
if [ "$(id -u)" = 0 ]; then
    room=$(mktemp -d)
    trap 'rm -rf "$room"' EXIT
    cp "$here"/*.sh "$here"/*.sql "$room"
    chown -R mysql: "$room"
    setpriv --reuid=mysql --regid=mysql --clear-groups sh "$room/initialise.sh" "$room/data"
    cp -r "$room/data" "$data"
    exit
fi
mkdir -p "$data"
data=$(cd "$data" && pwd)
mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve \
    --innodb-log-file-size=32M
mkdir "$data/files"
/usr/sbin/mariadbd $settings --datadir="$data" --ignore-db-dirs=files --innodb-fast-shutdown=0 --bootstrap <"$here/tables.sql"
