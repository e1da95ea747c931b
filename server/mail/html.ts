/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Tag of template strings: every value is escaped, unless it was made by this tag itself. */
export function html(strings: TemplateStringsArray, ...values: (string | Html | Html[])[]): Html {
  const parts = values.map((value) => [value].flat().map(render).join(''))
  return new Html(String.raw({ raw: strings }, ...parts))
}

function render(value: string | Html) {
  return value instanceof Html ? value.text : value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
