import { showSlide } from './mechanism-controls.ts'

/** A link from the label to an ingredient shows the slide that has it, by whichever controls the slides have. */
export function leadToIngredient({ target }: MouseEvent): void {
  const id = (target as Element).closest('a[href^="#slide-"]')?.getAttribute('href')?.slice(1)
  const slide = id ? document.getElementById(id) : null
  const mechanism = slide?.closest<HTMLElement>('.mechanism')
  if (!slide || !mechanism) return
  const place = [...mechanism.querySelectorAll('.slides > .slide')].indexOf(slide)
  mechanism.querySelectorAll<HTMLElement>('.slide-index li button')[place]?.click()
  const button = mechanism.querySelector<HTMLElement>(`.segments [data-slide="${slide.dataset.slide}"]`)
  if (button) showSlide(mechanism, button)
}

/** Opens the row of the label to which the address leads. */
export function openRow(): void {
  const details = document.querySelector<HTMLDetailsElement>('.panel tr:target details')
  if (details) details.open = true
}
