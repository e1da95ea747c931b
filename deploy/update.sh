#!/bin/sh
# Updates a site without a container, as root: /opt/quvera/deploy/update.sh
# Builds the newest version of the repository beside the running one, tries it on a port of its own, and only then moves it into
# place. What fails before that leaves the running site alone. If the site does not come up with the new version, the one
# before is put back. So many seconds it may take: WAIT=300 deploy/update.sh
# The new version has to answer /readyz:
#   with the site's own PostgreSQL  on a copy of the data, restored from a backup made now: the running site has locked its
#                                   folder. It sends nothing, and the copy is deleted.
#   with DATABASE_URL               on the same database, as one more replica. Migrations that are due and rights that are missing
#                                   keep it from starting: then the script stops, and says so.
set -eu
umask 022
WAIT=${WAIT:-60}

fail() {
  echo "No update: $1" >&2
  exit 1
}

# Whether the site answers there in time. With the id of a process: only while that one lives.
comes_up() {
  for _ in $(seq "$WAIT"); do
    if curl -fs --max-time 5 "http://$1/readyz" >/dev/null; then return 0; fi
    if [ -n "${2:-}" ] && ! kill -0 "$2" 2>/dev/null; then return 1; fi
    sleep 1
  done
  return 1
}

site=$(cd "$(dirname "$0")/.." && pwd -P)
new=$site-new before=$site-before failed=$site-failed
[ "$(id -u)" = 0 ] || fail 'run this as root.'
cd "$site"
exec 9>>"$site.lock"
flock -n 9 || fail 'another one is running.'
user=$(systemctl show quvera --property=User --value) || fail 'systemd does not run here: see “Another supervisor” in docs/deploy.md.'
[ -n "$user" ] || fail 'systemd has no unit quvera with a user.'
environment=$(systemctl show quvera --property=Environment --value)
as_site="setpriv --reuid=$user --regid=$(id -g "$user") --init-groups env $environment"
node="node_modules/.bin/node --import ./server/dotenv.mjs"
setting() {
  env $environment $node -p "process.env.$1 || '$2'"
}

[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "files in $site were changed: \`git status\` there names them."
branch=$(git branch --show-current)
rm -rf "$new"
git clone -q ${branch:+--branch "$branch"} "$(git remote get-url origin)" "$new"
running=$(git rev-parse HEAD)
cd "$new"
if [ "$(git rev-parse HEAD)" = "$running" ]; then
  rm -rf "$new"
  echo "The newest version is running already."
  exit 0
fi
git merge-base --is-ancestor "$running" HEAD 2>/dev/null || fail "the repository lacks commits of $site: push them first."
npm ci
npm run build

trial=$(mktemp -d /var/tmp/quvera-trial.XXXXXX)
chown "$user" "$trial"
tried=
tidy() {
  if [ -n "$tried" ]; then kill "$tried" 2>/dev/null || true; wait "$tried" || true; fi
  rm -rf "$trial"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

cd "$site"
(umask 077 && $as_site $node dist/server/staff.js backup - >"$trial/backup.sql.gz")
database=$(setting DATABASE_URL '')
cd "$new"
umask 077
if [ -z "$database" ]; then
  own="DATA_DIR=$trial/data RESEND_API_KEY= NOTIFY_URL="
  $as_site $own $node dist/server/staff.js restore - <"$trial/backup.sql.gz"
fi
port=$(node_modules/.bin/node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => s.close(console.log(s.address().port)))')
$as_site ${own:-} HOST=127.0.0.1 PORT="$port" BACKUP_DIR= METRICS_PORT= $node dist/server/main.js >"$trial/log" 2>&1 9>&- &
tried=$!
comes_up "127.0.0.1:$port" "$tried" || {
  tail -n 20 "$trial/log" >&2
  fail "the new version does not answer. It is in $new, and the site runs as before."
}
umask 022

host=$(setting HOST 127.0.0.1)
case $host in *:*) host="[$host]" ;; esac
address=$host:$(setting PORT 3000)
changed=$(diff -rq "$site/deploy" "$new/deploy" || true)
# A terminal that closes now must not leave the site without a folder.
trap '' HUP INT TERM
mv "$trial/backup.sql.gz" "$before.sql.gz"
trap - EXIT
tidy
rm -rf "$before"
mv "$site" "$before"
mv "$new" "$site"
systemctl restart quvera 9>&- || true
if comes_up "$address"; then
  echo "Updated. The version before is in $before, and what it had stored in $before.sql.gz: delete that file when all is well."
  if [ -n "$changed" ]; then echo "Changed: copy what you use of it, then systemctl daemon-reload"; echo "$changed"; fi
  exit 0
fi
rm -rf "$failed"
mv "$site" "$failed"
mv "$before" "$site"
systemctl restart quvera 9>&- || true
if comes_up "$address"; then fail "the site did not come up with the new version, which is in $failed. The one before runs again."; fi
fail "the site came up neither with the new version, which is in $failed, nor with the one before: journalctl -u quvera says why. What it had stored is in $before.sql.gz."
