#!/bin/bash
# shoot.sh PAGE.html OUT.png WIDTH HEIGHT SCALE: a page of labels/ as a picture (fonts from npm, see README).
set -e
here=$(cd "$(dirname "$0")" && pwd); work=${ARTWORK_WORK:-${TMPDIR:-/tmp}/artwork}
mkdir -p "$work/page/labels" "$work/page/fonts"
cp "$here"/labels/* "$work/page/labels/"
for font in fraunces figtree; do ln -sfn "$work/npm/node_modules/@fontsource-variable/$font" "$work/page/fonts/$font"; done
nice -n 19 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --allow-file-access-from-files --hide-scrollbars --force-device-scale-factor="$5" --window-size="$3,$4" \
  --virtual-time-budget=3000 --screenshot="$2" "file://$work/page/labels/$1" 2>/dev/null
