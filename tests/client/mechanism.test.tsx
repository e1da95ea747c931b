// The mechanism of action shows one slide at a time, by buttons on a phone and in a carousel on a wide screen.
// A long text is folded until the visitor asks for the rest, and no warning is ever folded.
import type { ReactNode } from 'react'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { ingredients } from '../../client/content/ingredients.ts'
import { content as quvera300 } from '../../client/content/products/300.ts'
import { content as quveraXt } from '../../client/content/products/xt.ts'
import { Mechanism } from '../../client/product/mechanism.tsx'
import { pressClicked, watchMechanism } from '../../client/product/mechanism-controls.ts'
import { shortened } from '../../client/product/slide-body.tsx'
import { render } from '../support/render.tsx'

beforeAll(() => addEventListener('click', pressClicked))
afterAll(() => removeEventListener('click', pressClicked))

const [first, second, , , last] = quveraXt.mechanism.slides.map(({ title, button }) => ({
  title,
  name: button || title,
}))

const [overview = '', q10 = '', , lycopene = ''] = quvera300.mechanism.slides.map(
  ({ title, button }) => button || title,
)

const button = (name: string | RegExp) => page.getByRole('button', { name })

describe('on a phone', () => {
  beforeEach(() => page.viewport(360, 740))

  it.each([
    [quvera300, q10, lycopene, 3],
    [quveraXt, first?.name ?? '', last?.name ?? '', 5],
  ])('one named button is active and shows its cards', async (content, first, other, count) => {
    const place = render(<Mechanism {...content.mechanism} />)
    const shown = () =>
      [...place.querySelectorAll<HTMLElement>('.slide')]
        .filter((slide) => slide.checkVisibility())
        .map((slide) => slide.ariaLabel)
    expect(place.querySelectorAll('.segments button')).toHaveLength(count)
    await expect.element(button(first)).toHaveAttribute('aria-pressed', 'true')
    expect(shown()).toHaveLength(1)
    const before = shown()
    await button(other).click()
    await expect.element(button(first)).toHaveAttribute('aria-pressed', 'false')
    await expect.element(button(other)).toHaveAttribute('aria-pressed', 'true')
    expect(shown()).toHaveLength(1)
    expect(shown()).not.toEqual(before)
  })

  it('a text is folded at 100 letters until it is asked for, and what to mind is never folded', async () => {
    const place = render(<Mechanism {...quvera300.mechanism} />)
    const card = place.querySelector('.slide[data-active=true] .ingredient') as HTMLElement
    const text = () => (card.querySelector('.read-more') as HTMLElement).innerText
    const caution = () => (card.querySelector('.caution') as HTMLElement).innerText
    expect(text()).toMatch(/^.{90,102} read more/)
    expect(text()).not.toContain('contains some fat')
    expect(caution()).toBe(ingredients.q10.caution)
    await button(`read more about ${q10}`).click()
    expect(text()).toMatch(/contains some fat\. read less/)
    await button(`read less about ${q10}`).click()
    expect(text()).toMatch(/^.{90,102} read more/)
  })
})

describe('on a wide screen', () => {
  beforeEach(() => page.viewport(1440, 900))
  afterEach(() => {
    vi.useRealTimers()
  })

  function renderWatched(content: ReactNode) {
    const place = render(content)
    watchMechanism()
    return place
  }

  const active = () => document.querySelector<HTMLElement>('.slick-active .slide')?.ariaLabel

  /** Of the slide that is shown. */
  const arrow = (way: string) =>
    page
      .elementLocator(document.querySelector('.slick-active') as Element)
      .getByRole('button', { name: `${way} slide` })

  it('the carousel shows one slide, stays the list that the page has, and its arrows move it, loop and keep the focus', async () => {
    const place = render(<Mechanism {...quveraXt.mechanism} />)
    const list = () =>
      page
        .getByRole('list')
        .elements()
        .map((each) => page.elementLocator(each))
    const told = () =>
      list()
        .map((each) =>
          each
            .getByRole('listitem')
            .elements()
            .map(({ ariaLabel }) => ariaLabel),
        )
        .find((labels) => labels.includes(first?.title ?? ''))
        ?.filter(Boolean)
    const before = told()
    expect(before).toHaveLength(5)
    watchMechanism()
    await expect.poll(active).toBe(first?.title)
    expect(told()).toEqual(before)
    const slides = [...place.querySelectorAll<HTMLElement>('.slick-slide')]
    expect(slides.length).toBeGreaterThan(5) // it loops by copies
    expect(slides.filter((slide) => !slide.inert)).toHaveLength(5)
    // The keyboard comes to a slide that is not shown, and it is shown.
    slides
      .find((slide) => !slide.inert && slide.textContent?.includes('Wheat Germ Oil'))
      ?.querySelector('a')
      ?.focus()
    await expect.poll(active).toBe(second?.title)
    await expect.poll(() => document.querySelector('.slick-list')?.scrollLeft).toBe(0)
    await arrow('Previous').click()
    await expect.poll(active).toBe(first?.title)
    expect(place.querySelector('.slick-dots')).toBeNull()
    await arrow('Previous').click()
    await expect.poll(active).toBe(last?.title)
    await expect.poll(() => document.activeElement?.closest('.slick-active')).not.toBeNull()
    expect(document.activeElement?.ariaLabel).toBe('Previous slide')
    await arrow('Next').click()
    await expect.poll(active).toBe(first?.title)
    await expect.poll(() => document.activeElement?.ariaLabel).toBe('Next slide')
  })

  const away = () => userEvent.hover(document.documentElement, { position: { x: 5, y: 890 } }) // a pointer over it stops it

  it('it goes on by itself every 10 seconds in which nobody moves anything, unless it is paused', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    renderWatched(<Mechanism {...quvera300.mechanism} />)
    await expect.poll(active).toBe(overview)
    await button('Play the slides').click()
    ;(document.activeElement as HTMLElement).blur()
    await away()
    vi.advanceTimersByTime(9_000)
    dispatchEvent(new Event('scroll')) // somebody comes to read
    vi.advanceTimersByTime(9_999)
    expect(active()).toBe(overview)
    vi.advanceTimersByTime(1)
    await expect.poll(active).toBe(q10)
    const texts = [...document.querySelectorAll<HTMLElement>('.slick-active .read-more')]
    expect(texts.map(({ dataset }) => dataset.open)).toEqual(['true']) // there is room
    ;(document.querySelector('.slick-active .read-more button') as HTMLElement).click()
    expect(texts[0]?.dataset.open).toBe('false')
    await away()
    vi.advanceTimersByTime(30_000)
    await expect.poll(active).toBe(q10) // who presses that is not moved on
    await expect.element(button('Play the slides')).toBeVisible()
  })

  it('it does not begin to move where the page’s own slides are read already', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    renderWatched(<Mechanism {...quvera300.mechanism} />)
    await away()
    await expect.poll(active).toBe(overview)
    vi.advanceTimersByTime(30_000)
    expect(active()).toBe(overview)
    expect(document.querySelector('.play-button')?.textContent).toBe('Play the slides')
  })
})

describe('the fold', () => {
  it.each([
    [`${'word '.repeat(19)}end and more`, `${'word '.repeat(19)}end`], // 98 letters and not 102
    [`${'word '.repeat(19)}letter and more`, `${'word '.repeat(19)}letter`], // 101 letters and not 94
    [`${'word '.repeat(19)}end, and more`, `${'word '.repeat(19)}end`],
    ['word '.repeat(20).trim(), 'word '.repeat(20).trim()],
  ])('is between the words where that is nearest to 100 letters', (text, beginning) => {
    expect(shortened(text)).toBe(beginning)
  })

  it.each([quvera300, quveraXt])('every card has a text to fold, and nothing that warns is folded', ({ mechanism }) => {
    for (const { text } of mechanism.slides.flatMap(({ cards }) => cards)) {
      expect(Math.abs(shortened(text).length - 100), text).toBeLessThan(10)
      expect(text.length).toBeGreaterThan(120)
      expect(text).not.toMatch(/doctor|Do not|allergi/)
    }
  })
})
