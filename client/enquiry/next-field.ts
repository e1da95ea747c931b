/** On a touch screen the key "Next" of the keyboard is Enter, which would send the form. Moves to the next field instead. */
export function focusNextField(event: KeyboardEvent): void {
  const field = event.target
  if (event.key !== 'Enter' || event.isComposing || !(field instanceof HTMLInputElement)) return
  if (field.enterKeyHint !== 'next' || !matchMedia('(pointer: coarse)').matches) return
  const fields = [...(field.form?.elements ?? [])] as HTMLElement[]
  const next = fields
    .slice(fields.indexOf(field) + 1)
    .find(({ tabIndex, offsetParent }) => tabIndex >= 0 && offsetParent)
  if (!next) return
  event.preventDefault()
  next.focus()
}
