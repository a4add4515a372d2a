#!/bin/sh
# Run once by the image of PostgreSQL: the user of the relays, who owns their database and nothing else.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --set ON_ERROR_STOP=1 --set password="$RELAY_PASSWORD" <<'SQL'
create role tersely login password :'password';
create database tersely owner tersely;
SQL
