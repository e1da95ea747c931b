/** Scrolls a row sideways until this item of it is in the middle. */
export function centreInRow(item: HTMLElement): void {
  const row = item.offsetParent
  row?.scrollTo({ left: item.offsetLeft + (item.offsetWidth - row.clientWidth) / 2 })
}
