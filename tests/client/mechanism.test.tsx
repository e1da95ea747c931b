import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { content as quvera300 } from '../../client/content/products/300.ts'
import { content as quveraXt } from '../../client/content/products/xt.ts'
import { Mechanism } from '../../client/product/mechanism.tsx'
import { shortened } from '../../client/product/slide-body.tsx'
import { render } from '../support/render.tsx'

const button = (name: string | RegExp) => page.getByRole('button', { name })

describe('on a phone', () => {
  beforeEach(() => page.viewport(360, 740))

  it.each([
    [quvera300, 'CoQ10', 'Lycopene', 3],
    [quveraXt, 'Cardiovascular Health', 'Macular Degeneration (Ophthalmology)', 5],
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

  it('a text is cut at 100 letters until it is asked for', async () => {
    const place = render(<Mechanism {...quvera300.mechanism} />)
    const text = () => (place.querySelector('.slide[data-active=true] .read-more') as HTMLElement).innerText
    expect(text()).toMatch(/… read more/)
    expect(text().indexOf('…')).toBeLessThanOrEqual(100)
    await button('read more about Coenzyme Q10').click()
    expect(text()).toMatch(/ask your doctor first\. read less/)
    await button('read less about Coenzyme Q10').click()
    expect(text()).toMatch(/… read more/)
  })
})

describe('on a wide screen', () => {
  beforeEach(() => page.viewport(1440, 900))
  afterEach(() => {
    vi.useRealTimers()
  })

  const active = () => document.querySelector<HTMLElement>('.slick-active [aria-roledescription=slide]')?.ariaLabel

  it('the carousel shows one slide, and everything else in it is inert', async () => {
    const place = render(<Mechanism {...quveraXt.mechanism} />)
    await expect.poll(active).toBe('1 of 5: Cardiovascular Health')
    const slides = [...place.querySelectorAll<HTMLElement>('.slick-slide')]
    expect(slides.length).toBeGreaterThan(5) // it loops by copies
    expect(slides.filter((slide) => !slide.inert)).toHaveLength(1)
    expect(place.querySelector('.slick-dots')).toBeNull()
  })

  it('the arrows on each slide move it, loop, and keep the focus', async () => {
    render(<Mechanism {...quveraXt.mechanism} />)
    await expect.poll(active).toBe('1 of 5: Cardiovascular Health')
    await button('Previous slide').click()
    await expect.poll(active).toBe('5 of 5: Macular Degeneration / Ophthalmology')
    await expect.poll(() => document.activeElement?.closest('.slick-active')).not.toBeNull()
    expect(document.activeElement?.ariaLabel).toBe('Previous slide')
    await button('Next slide').click()
    await expect.poll(active).toBe('1 of 5: Cardiovascular Health')
    await expect.poll(() => document.activeElement?.ariaLabel).toBe('Next slide')
  })

  it('it goes on by itself every 10 seconds, unless it is paused', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    render(
      <div className="section">
        <Mechanism {...quvera300.mechanism} />
      </div>,
    )
    await userEvent.hover(document.documentElement, { position: { x: 5, y: 890 } }) // a pointer over it stops it
    await expect.poll(active).toBe('1 of 4: Overview')
    vi.advanceTimersByTime(9_999)
    expect(active()).toBe('1 of 4: Overview')
    vi.advanceTimersByTime(1)
    await expect.poll(active).toBe('2 of 4: CoQ10')
    await button('Pause the slides').click()
    document.querySelector<HTMLElement>('.play-button')?.blur()
    vi.advanceTimersByTime(30_000)
    await expect.poll(active).toBe('2 of 4: CoQ10')
    await expect.element(button('Play the slides')).toBeVisible()
  })
})

describe('the cut', () => {
  it('falls between words, at 100 letters at most', () => {
    const cut = shortened(`${'word '.repeat(30)}end`)
    expect(cut.length).toBeLessThanOrEqual(100)
    expect(cut).toMatch(/word$/)
  })

  it('leaves a short text alone', () => {
    expect(shortened('Short.')).toBe('Short.')
  })
})
