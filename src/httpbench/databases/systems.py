"""The database systems. All differences between them are in this module and in the scripts in their folders.

``initialise.sh DATA`` creates a data folder with the tables, ``serve.sh DATA ADDRESS PORT`` serves it, and ``ask.sh DATA PORT SQL`` prints
the rows of a query. Processes and containers run the same scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.databases.counts import Counts
from httpbench.model import Build, Category, Database, Kind, Requirement, Scaling, Target, Tuning

HOST_NAME = "tfb-database"
"""Host name of the database inside containers. TechEmpower's frameworks use this name."""

USER, PASSWORD, NAME = "benchmarkdbuser", "benchmarkdbpass", "hello_world"
"""Credentials and name of the database, as in TechEmpower's setup."""

DATA = "data"
"""Data folder, relative to the folder of the build or the trial."""

INSIDE = Path("/database")
"""Folder of the scripts and the data in a container."""


@dataclass(frozen=True, slots=True)
class System:
    """A database system."""

    name: Database
    title: str
    scheme: str
    """Scheme of the database's URLs."""
    port: int
    """Default port of the database, which other projects' frameworks expect."""
    owner: str
    """User that runs the database if the harness runs as root. Debian's package creates this user."""
    requirement: Requirement
    version_query: str
    sessions_query: str
    """SQL that counts the target's connections."""
    counts_query: str
    """SQL that returns the fields of :class:`Counts` since the server started.

    ``{tables}`` is a list of tables in SQL, and ``{names}`` is a regular expression of their names.
    """

    @property
    def folder(self) -> Path:
        return Path(__file__).with_name(str(self.name))

    @property
    def target(self) -> Target:
        """A target whose build creates the data folder with the tables. It is built once, before the first trial."""
        return Target(
            id=f"database/{self.name}",
            kind=Kind.SERVER,
            language="database",
            framework=str(self.name),
            category=Category.PLATFORM,
            tuning=Tuning.TUNED,
            upstream=None,
            requires=(self.requirement,),
            build=Build(commands=(("sh", "initialise.sh", DATA),), artifacts=(DATA,)),
            version=("sh", "version.sh"),
            run=(),
            scaling=(Scaling.MULTI,),
            folder=str(self.folder),
        )

    def serve(self, folder: Path, address: str, port: int) -> tuple[str, ...]:
        """Return the command that serves the data of a folder."""
        return ("sh", str(folder / "serve.sh"), str(folder / DATA), address, str(port))

    def ask(self, folder: Path, port: int, query: str) -> tuple[str, ...]:
        """Return the command that prints the rows of a query."""
        return ("sh", str(folder / "ask.sh"), str(folder / DATA), str(port), query)

    def counting(self, tables: Sequence[str]) -> str:
        """Return the SQL that queries the counters of tables, which are named in lower case.

        PostgreSQL's numbers of rows lack the last second of open connections. MariaDB counts all tables.
        """
        return self.counts_query.format(tables=", ".join(f"'{table}'" for table in tables), names="|".join(tables))

    def url(self, host: str, port: int) -> str:
        """Return the URL at which a target reaches the database."""
        return f"{self.scheme}://{USER}:{PASSWORD}@{host}:{port}/{NAME}"


def counts(printed: str) -> Counts:
    """Parse the output of ``counts_query``."""
    return Counts(*map(int, printed.split()))


SYSTEMS: Mapping[Database, System] = {
    Database.POSTGRES: System(
        name=Database.POSTGRES,
        title="PostgreSQL",
        scheme="postgres",
        port=5432,
        owner="postgres",
        requirement=Requirement(file="/usr/lib/postgresql/*/bin/postgres", apt=("postgresql",)),
        version_query="SHOW server_version",
        sessions_query=f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{USER}'",
        counts_query=(
            "SELECT coalesce(sum(idx_tup_fetch), 0), coalesce(sum(seq_tup_read), 0), coalesce(sum(n_tup_ins + n_tup_upd), 0),"
            " (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements"
            " WHERE query ~* '\\m({names})\\M' AND query !~* '^\\s*(insert|update|delete)')"
            " FROM pg_stat_user_tables WHERE lower(relname) IN ({tables})"
        ),
    ),
    Database.MYSQL: System(
        name=Database.MYSQL,
        title="MariaDB",
        scheme="mysql",
        port=3306,
        owner="mysql",
        requirement=Requirement(file="/usr/sbin/mariadbd", apt=("mariadb-server",)),
        version_query="SELECT version()",
        sessions_query=f"SELECT count(*) FROM information_schema.processlist WHERE user = '{USER}'",
        counts_query=(
            "SELECT CAST(SUM(IF(variable_name = 'HANDLER_READ_KEY', variable_value, 0)) AS INTEGER),"
            " CAST(SUM(IF(variable_name IN ('HANDLER_READ_NEXT', 'HANDLER_READ_RND_NEXT'), variable_value, 0)) AS INTEGER),"
            " CAST(SUM(IF(variable_name IN ('HANDLER_UPDATE', 'HANDLER_WRITE'), variable_value, 0)) AS INTEGER),"
            " CAST(SUM(IF(variable_name = 'COM_SELECT', variable_value, 0)) AS INTEGER)"
            " FROM information_schema.global_status WHERE variable_name LIKE 'HANDLER%' OR variable_name = 'COM_SELECT'"
        ),
    ),
}
