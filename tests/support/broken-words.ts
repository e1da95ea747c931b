/** Words that stand in more than one line. Runs in the page: it uses nothing from outside. */
export function findBrokenWords(parts: Element[], words: RegExp): string[] {
  const found: string[] = []
  for (const part of parts) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const text = walker.currentNode as Text
      if (!text.parentElement?.checkVisibility()) continue
      for (const { index, 0: word } of text.data.matchAll(words)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        if (range.getClientRects().length > 1) found.push(word)
      }
    }
  }
  return found
}
