/**
 * A chip marks what names it in its `data-about`, tells which parts that are, and begins the line of the medicines on the
 * sheet. All of it is in the page alone, and gone with it.
 */
export function pressChip({ target }: MouseEvent): void {
  const chip = (target as Element).closest<HTMLElement>('[data-chip]')
  if (!chip) return
  chip.ariaPressed = String(chip.ariaPressed !== 'true')
  const pressed = [...document.querySelectorAll<HTMLElement>('[data-chip][aria-pressed=true]')]
  const names = new Set<string>()
  for (const part of document.querySelectorAll<HTMLElement>('[data-about]')) {
    const about = part.dataset.about?.split(' ') ?? []
    const isMarked = pressed.some(({ dataset }) => about.includes(dataset.chip ?? ''))
    part.toggleAttribute('data-marked', isMarked)
    if (isMarked && part.dataset.name) names.add(part.dataset.name)
  }
  const status = document.querySelector<HTMLElement>('[data-marked-names]')
  if (status) status.textContent = names.size > 0 ? `${status.dataset.markedNames} ${[...names].join(', ')}.` : ''
  for (const line of document.querySelectorAll<HTMLElement>('[data-begins]')) {
    const words = pressed.filter(({ dataset }) => String('medicine' in dataset) === line.dataset.begins)
    line.textContent = words.map(({ textContent }) => textContent).join(', ')
  }
}
