/** On phones the header offers Buy Now only while the same button of the page's top is not in view: see header.css. */
export function watchFirstButton(): void {
  const button = document.querySelector(':is(.banner, .product-text) .button')
  if (!button) return
  const observer = new IntersectionObserver(([entry]) => {
    document.documentElement.dataset.firstButton = entry?.isIntersecting ? 'seen' : 'away'
  })
  observer.observe(button)
}
