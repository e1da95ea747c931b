/** Space before an item that is wider than its row. */
const EDGE_PX = 20

/** Scrolls a row sideways until this item of it is in the middle. */
export function centreInRow(item: HTMLElement): void {
  const row = item.offsetParent
  row?.scrollTo({ left: item.offsetLeft - Math.max(EDGE_PX, (row.clientWidth - item.offsetWidth) / 2) })
}
