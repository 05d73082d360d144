"""The tables and large indexes of a database, made and changed by the role that owns them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from turnleaf.errors import InvalidInput, StorageError
from turnleaf.store.postgres.addresses import connect, describe, read_address, translate_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.store.postgres.addresses import Connection

SERVING_ROLE = "turnleaf_server"
FLOOR = 1
"""The oldest tables that this version can serve, and what it tells servers of other versions."""
LOCK = 7_472_756_672
"""The advisory lock of whoever changes tables or indexes."""
_EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector;"
# Read as numbers: the tenth version is no older than the second.
_IS_OLD = "string_to_array(extversion, '.')::int[] < '{0,8}'"
_FIND_OLD = f"SELECT extversion FROM pg_extension WHERE extname = 'vector' AND {_IS_OLD}"  # noqa: S608
_BEGINNING = """
CREATE SCHEMA IF NOT EXISTS turnleaf;
CREATE TABLE IF NOT EXISTS turnleaf.migrations (
    version int PRIMARY KEY,
    floor int NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    -- What makes the names of spaces unreadable in hints that one has changed.
    salt text NOT NULL DEFAULT gen_random_uuid()
);
"""
_NOTE = "INSERT INTO turnleaf.migrations (version, floor) VALUES ({}, {});"
_GRANTS = """
GRANT USAGE ON SCHEMA turnleaf TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA turnleaf TO {role};
REVOKE INSERT, UPDATE, DELETE ON turnleaf.migrations FROM {role};
"""
_ROLE = """
SELECT rolsuper, rolbypassrls, pg_has_role(current_user, nspowner, 'MEMBER')
FROM pg_roles LEFT JOIN pg_namespace ON nspname = 'turnleaf' WHERE rolname = current_user
"""
# What a restore or a hand may have left out, each with the statement that puts it right.
_MISSING = f"""
SELECT format('pgvector is %s, and 0.8 or newer is needed', extversion),
    'ALTER EXTENSION vector UPDATE'
FROM pg_extension WHERE extname = 'vector' AND {_IS_OLD}
UNION ALL
SELECT format('row-level security is off for turnleaf.%I', relname),
    format('ALTER TABLE turnleaf.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', relname)
FROM ours WHERE is_of_spaces AND NOT (relrowsecurity AND relforcerowsecurity)
UNION ALL
SELECT format('turnleaf.%I has no policy', relname), format(
    'CREATE POLICY own_space ON turnleaf.%I '
    'USING (space = current_setting(''turnleaf.space'', true))', relname)
FROM ours WHERE is_of_spaces AND NOT EXISTS (
    SELECT FROM pg_policy WHERE polrelid = ours.oid AND polname = 'own_space')
UNION ALL
SELECT format('%I is not allowed to use turnleaf.%I', current_user, relname),
    format('GRANT SELECT, INSERT, UPDATE, DELETE ON turnleaf.%I TO %I', relname, current_user)
FROM ours WHERE relname <> 'migrations' AND NOT (
    has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
    AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
UNION ALL
SELECT format('the index turnleaf.%I is not valid', one.relname),
    format('REINDEX INDEX turnleaf.%I', one.relname)
FROM ours JOIN pg_index ON indrelid = ours.oid JOIN pg_class one ON one.oid = indexrelid
WHERE NOT indisvalid
ORDER BY 1
"""  # noqa: S608 - of constants
_OURS = """
WITH ours AS (
    SELECT oid, relname, relrowsecurity, relforcerowsecurity, EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'space'
    ) AS is_of_spaces
    FROM pg_class WHERE relnamespace = 'turnleaf'::regnamespace AND relkind IN ('r', 'p')
)
"""
_FIND_MISSING = f"{_OURS}{_MISSING}"
_FIND_MADE = """
SELECT relname FROM pg_class WHERE relnamespace = 'turnleaf'::regnamespace
UNION SELECT polname || ' on ' || relname FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
WHERE relnamespace = 'turnleaf'::regnamespace
"""
_MADE = re.compile(
    r"^CREATE (?:TABLE turnleaf\.(\w+)|INDEX (\w+)|POLICY (\w+) ON turnleaf\.(\w+))\b.*?;$",
    re.MULTILINE | re.DOTALL,
)
LARGE_SPACE = 20_000
"""From so many passages on, the vectors of a space have an index of their own."""
MOST_NUMBERS = 4000
"""So many numbers a vector may have that such an index takes."""
MOST_INDEXES = 200
"""So many spaces have an index at most: each is looked at when a vector is added or searched."""
_SPACES = "SELECT substr(kind, 7) FROM turnleaf.counters WHERE space = '' AND kind LIKE 'space %'"
_LARGE = """
SELECT passages, id, dimension FROM turnleaf.indexes, turnleaf.embedders
WHERE passages >= %s AND scripts <> '' AND dimension <= %s
"""
_INDEXES = """
SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = 'turnleaf.vectors'::regclass AND starts_with(relname, 'vectors_near_')
ORDER BY relname
"""
# CONCURRENTLY, so that nobody waits; therefore outside of any transaction. A halfvec takes half the
# room and may have twice as many numbers; the cosines that count are those of the whole vectors.
_MAKE_INDEX = """
CREATE INDEX CONCURRENTLY {name} ON turnleaf.vectors
USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)
WHERE embedder = {model}
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """A numbered step and its statements."""

    version: int
    statements: str


def list_migrations() -> list[Migration]:
    """Return all steps that this version knows, in order."""
    folder = resources.files("turnleaf.store.postgres") / "migrations"
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".sql"))
    return [Migration(int(name[:4]), (folder / name).read_text("utf-8")) for name in names]


def write_script(missing: Sequence[Migration], role: str) -> str:
    """Return all statements by which `migrate` makes some steps."""
    notes = [sql.SQL(_NOTE).format(one.version, FLOOR).as_string() for one in missing]
    steps = [f"{one.statements}\n{note}" for one, note in zip(missing, notes, strict=True)]
    grants = sql.SQL(_GRANTS).format(role=sql.Identifier(role)).as_string()
    return "\n".join(["BEGIN;", _EXTENSION, _BEGINNING.strip(), "", *steps, grants, "COMMIT;"])


def migrate(
    address: str, *, role: str = SERVING_ROLE, dry_run: bool = False
) -> Sequence[Migration]:
    """Make the steps that a database lacks, all or none, and let a role use the tables.

    Return them; with `dry_run` nothing is made.
    """
    conninfo = read_address(address).conninfo
    with translate_errors(), connect(conninfo, autocommit=False) as owner:
        # Of two who migrate at once, the second finds nothing missing.
        owner.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        missing = [one for one in list_migrations() if one.version not in _list_made(owner)]
        if not dry_run:
            _check_role(owner, role)
            _make(owner, missing, role)
    return missing


def _list_made(owner: Connection) -> set[int]:
    if owner.execute("SELECT to_regclass('turnleaf.migrations')").fetchall() == [(None,)]:
        return set()
    return {version for (version,) in owner.execute("SELECT version FROM turnleaf.migrations")}


def _check_role(owner: Connection, role: str) -> None:
    """Raise InvalidInput where the serving role is missing or could read every space."""
    query = (
        "SELECT rolsuper OR rolbypassrls, pg_has_role(oid, current_user, 'MEMBER') "
        "FROM pg_roles WHERE rolname = %s"
    )
    found = owner.execute(query, (role,)).fetchall()
    if not found:
        message = f"there is no role {role}; create it: CREATE ROLE {role} LOGIN"
        raise InvalidInput(message)
    if found != [(False, False)]:
        message = (
            f"the role {role} must not be a superuser, bypass row-level security or be a "
            "member of the role that migrates; choose another with --role"
        )
        raise InvalidInput(message)


def _make(owner: Connection, missing: Sequence[Migration], role: str) -> None:
    try:
        owner.execute(_EXTENSION)
    except psycopg.errors.FeatureNotSupported as error:
        message = f"the database has no pgvector ({describe(error)}); install it on its server"
        raise StorageError(message) from None
    except psycopg.errors.InsufficientPrivilege:
        message = (
            "pgvector is not enabled in this database; run as its superuser: CREATE "
            "EXTENSION vector"
        )
        raise StorageError(message) from None
    for (version,) in owner.execute(_FIND_OLD):
        message = (
            f"the database has pgvector {version}, but 0.8 or newer is needed; update it on "
            "the server, then run as its superuser: ALTER EXTENSION vector UPDATE"
        )
        raise StorageError(message)
    owner.execute(_BEGINNING)
    for one in missing:
        owner.execute(one.statements.encode())
        owner.execute(sql.SQL(_NOTE).format(one.version, FLOOR))
    owner.execute(sql.SQL(_GRANTS).format(role=sql.Identifier(role)))


def check_database(connection: Connection) -> None:
    """Raise StorageError where this role or this version must not serve a database."""
    ((is_super, bypasses, owns),) = connection.execute(_ROLE).fetchall()
    if is_super or bypasses or owns:
        message = (
            "the programs must not connect as a superuser, as the owner of the tables or as "
            "a role that bypasses row-level security; connect as another role, such as "
            f"{SERVING_ROLE}"
        )
        raise StorageError(message)
    _check_version(connection)


def _check_version(connection: Connection) -> None:
    known = list_migrations()[-1].version
    try:
        query = "SELECT max(version), max(floor) FROM turnleaf.migrations"
        ((version, floor),) = connection.execute(query).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        version, floor = 0, 0
    if (version or 0) < known:
        message = (
            "the database lacks the tables of this version; run, as the role that owns them: "
            "turnleaf db migrate ADDRESS"
        )
        raise StorageError(message)
    if floor > known:
        message = (
            f"the database's tables are version {floor}, but this Turnleaf supports only "
            f"version {known}; update Turnleaf"
        )
        raise StorageError(message)


def find_missing(connection: Connection) -> list[tuple[str, str]]:
    """Return what is missing in a database, each with the statement that mends it."""
    there = {name for (name,) in connection.execute(_FIND_MADE)}
    lost = [
        (f"there is no {kind} {name} in the schema turnleaf", statement)
        for kind, name, statement in _list_made_by(list_migrations())
        if name not in there
    ]
    # Without parameters, so that the signs of percent stay as they are.
    return [*lost, *connection.execute(_FIND_MISSING.encode()).fetchall()]


def _list_made_by(steps: Sequence[Migration]) -> Iterator[tuple[str, str, str]]:
    """Yield each table, index and policy that some steps make, and the statement on one line."""
    for step in steps:
        for made in _MADE.finditer(re.sub(r"--.*", "", step.statements)):
            table, index, policy, its_table = made.groups()
            text = " ".join(made[0].split()).removesuffix(";")
            # Whoever mends it should not stop those who write meanwhile.
            statement = text.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1)
            kind = text.split()[1].lower()
            yield kind, table or index or f"{policy} on {its_table}", statement


def name_index(model: int) -> str:
    """Return the name of the index over the vectors that a large space has of a model."""
    return f"vectors_near_{model:x}"


def tune(address: str, *, passages: int = LARGE_SPACE, dry_run: bool = False) -> Sequence[str]:
    """Index the vectors of each space of so many passages, and drop the indexes not needed.

    Return the statements; with `dry_run` none is run. Nobody has to wait meanwhile.
    """
    conninfo = read_address(address).conninfo
    with translate_errors(), connect(conninfo) as owner:
        # To wait for it would be a transaction for which the other's new index would wait.
        if owner.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchall() != [(True,)]:
            raise StorageError(
                "another program is changing the database's tables; try again when it is done"
            )
        statements = _list_changes(owner, passages)
        for one in () if dry_run else statements:
            owner.execute(one)
        # The end of the connection would do, but the server may notice it later.
        owner.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
        return [one.as_string(owner).strip() for one in statements]


def _list_changes(owner: Connection, passages: int) -> list[sql.Composed]:
    """Return the statements that drop and make indexes."""
    wanted = _list_wanted(owner, passages)
    known = owner.execute(_INDEXES).fetchall()
    # An index whose making was cut off is never used, and costs every write.
    needless = [name for name, is_valid in known if name not in wanted or not is_valid]
    there = {name for name, _ in known}.difference(needless)
    drop = sql.SQL("DROP INDEX CONCURRENTLY turnleaf.{}")
    return [
        *(drop.format(sql.Identifier(name)) for name in needless),
        *(made for name, made in wanted.items() if name not in there),
    ]


def _list_wanted(owner: Connection, passages: int) -> dict[str, sql.Composed]:
    """Return by its name the statement that makes each index; the largest spaces come first."""
    found: list[tuple[int, int, int]] = []
    # Row-level security holds for the owner, too, so spaces are known by their counters alone.
    for (space,) in owner.execute(_SPACES).fetchall():
        # The owner, too, sees the rows of the space alone that its transaction has set.
        with owner.transaction():
            owner.execute("SELECT set_config('turnleaf.space', %s, true)", (space,))
            rows = owner.execute(_LARGE, (passages, MOST_NUMBERS)).fetchall()
        found += rows
    return {
        name_index(model): sql.SQL(_MAKE_INDEX).format(
            name=sql.Identifier(name_index(model)),
            dimension=sql.Literal(dimension),
            model=sql.Literal(model),
        )
        for _, model, dimension in sorted(found, reverse=True)[:MOST_INDEXES]
    }
