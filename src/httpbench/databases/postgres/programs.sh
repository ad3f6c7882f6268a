# Set $programs: the folder of the newest PostgreSQL installed from Debian's packages.
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
