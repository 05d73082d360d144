#!/bin/sh
# Run once by the PostgreSQL image, when its data folder is new: the database of Turnleaf, its two
# roles, and who may be which. Nothing but the socket leads here.
set -eu

psql --username postgres --dbname postgres --set ON_ERROR_STOP=1 --quiet <<'SQL'
CREATE ROLE turnleaf_owner LOGIN;
CREATE ROLE turnleaf_server LOGIN;
CREATE DATABASE turnleaf OWNER turnleaf_owner;
\connect turnleaf
CREATE EXTENSION vector;
SQL

# `peer` asks the system whose process it is, so the user that serves cannot become the owner.
cat > "$PGDATA/pg_hba.conf" <<'HBA'
local all postgres peer
local turnleaf turnleaf_owner peer map=owner
local turnleaf turnleaf_server trust
HBA
printf 'owner %s turnleaf_owner\n' "$(id -un)" > "$PGDATA/pg_ident.conf"
