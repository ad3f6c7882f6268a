# Sets $programs: the folder of the newest PostgreSQL that Debian's packages have installed.
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
