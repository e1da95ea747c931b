#!/bin/bash
# build.sh [NAME...]: labels, scenes, files of client/images/. Without names: every picture. See README.md.
set -e
cd "$(dirname "$0")"
export ARTWORK_WORK=${ARTWORK_WORK:-${TMPDIR:-/tmp}/artwork} PYTHONDONTWRITEBYTECODE=1
samples=${SAMPLES:-32} seeds=${SEEDS:-1,2} percent=${PERCENT:-100}
mkdir -p "$ARTWORK_WORK/npm"
[ -d "$ARTWORK_WORK/npm/node_modules/@fontsource-variable/figtree" ] ||
  npm install --no-save --prefix "$ARTWORK_WORK/npm" @fontsource-variable/fraunces @fontsource-variable/figtree
for kind in 300 xt; do ./shoot.sh $kind.html "$ARTWORK_WORK/label-$kind.png" 1733 600 3; done
./shoot.sh card.html "$ARTWORK_WORK/card.png" 700 920 2
names=${*:-$(python3 -c 'from pictures import PICTURES; print(*PICTURES)')}
for name in $names; do
  [ "$name" = og ] && continue
  nice -n 19 blender -b --python-exit-code 1 -P scenes.py -- "$percent" "$samples" "$seeds" "$name" > "$ARTWORK_WORK/$name.log" 2>&1
  nice -n 19 /usr/bin/python3 finish.py "$percent" "$name"
done
[ -n "$*" ] && [[ " $* " != *" og "* ]] && exit
jpeg() { /usr/bin/python3 -c "import cv2,sys; cv2.imwrite(sys.argv[2], cv2.imread(sys.argv[1]), [cv2.IMWRITE_JPEG_QUALITY, 88, cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_OPTIMIZE, 1])" "$ARTWORK_WORK/png/$1.png" "../../client/images/$1.jpg"; }
for kind in 300 xt; do
  avifdec "../../client/images/quvera-$kind-1600.avif" "$ARTWORK_WORK/page/product-$kind.png"
  ./shoot.sh "og-product.html#$kind" "$ARTWORK_WORK/png/og-quvera-$kind.png" 1200 630 1
  jpeg "og-quvera-$kind"
done
cp "$ARTWORK_WORK/png/home-pair.png" "$ARTWORK_WORK/page/home-pair.png"
./shoot.sh og.html "$ARTWORK_WORK/png/og.png" 1200 630 1
jpeg og
