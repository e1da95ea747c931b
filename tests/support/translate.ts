/** In the page: does what Chrome's translation does, and joins neighbours as other tools do; what changes later too. */
export function translate() {
  const made = new WeakSet<Node>()
  const watch = new MutationObserver(change)
  function nodes(kind: number) {
    const walker = document.createTreeWalker(document.body, kind)
    const all: CharacterData[] = []
    while (walker.nextNode()) all.push(walker.currentNode as CharacterData)
    return all
  }
  function change() {
    watch.disconnect()
    for (const comment of nodes(NodeFilter.SHOW_COMMENT)) comment.remove()
    document.body.normalize()
    for (const text of nodes(NodeFilter.SHOW_TEXT)) {
      if (made.has(text) || !text.data.trim() || text.parentElement?.closest('script, style, svg')) continue
      const translated = new Text(text.data.toUpperCase())
      const element = document.createElement('font')
      element.append(translated)
      made.add(translated)
      text.replaceWith(text.parentElement?.localName === 'option' ? translated : element)
    }
    watch.observe(document.body, { subtree: true, childList: true, characterData: true })
  }
  change()
}
